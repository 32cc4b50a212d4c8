// What is found in the data at hand: the zoomed box, the matches of the search, the rows of the table.

import { computed, signal } from '@preact/signals';
import { functionRows, searchBoxes, type Found } from './flame/data';
import { flame } from './load';
import { search, zoom } from './state';

export const zoomed = computed(() => flame.value ? flame.value.find(zoom.value) : 0);

// A search that is no regular expression (yet) is a plain text, as it is while it is being typed.
export const pattern = computed(() => {
	const text = search.value;
	if (!text)
		return null;
	try {
		return { regexp: new RegExp(text, 'i'), plain: false };
	} catch {
		return { regexp: new RegExp(escape(text), 'i'), plain: true };
	}
});

export const found = computed<Found | null>(() =>
	flame.value && flame.value.total && pattern.value ? searchBoxes(flame.value, pattern.value.regexp, zoomed.value) : null);

export const rows = computed(() => flame.value && flame.value.total ? functionRows(flame.value, zoomed.value) : []);

export const focused = signal(-1);	// box that the keyboard, or "next match", is at

export function escape(text: string): string {
	return text.replace(/[\\^$.*+?()[\]{}|]/g, '\\$&');
}

// What a click on a function searches for.
export function searchFor(name: string): string {
	return `^${escape(name)}$`;
}
