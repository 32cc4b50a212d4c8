// Finds boxes in the data at hand: the zoomed one, the matches of the search.

import { computed, effect, signal, untracked } from '@preact/signals';
import { searchBoxes, type Found } from './flame/data';
import { flame } from './load';
import { Matcher } from './matcher';
import { search, zoom } from './state';

export const zoomed = computed(() => flame.value ? flame.value.find(zoom.value) : 0);

export const SEARCH_TITLE = 'A regular expression; upper and lower case are equal';

// A search that is not (yet) a valid regular expression is treated as plain text.
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

// --- Matching names ---

// Names of the data and which of them match; null while unknown.
const matches = signal<{ names: string[]; source: string; byName: Uint8Array } | null>(null);
export const matchedNames = computed(() => matches.value?.byName);
export const tooSlow = signal('');		// the pattern that was stopped

const matcher = new Matcher();

effect(() => {
	const regexp = pattern.value?.regexp, names = flame.value?.names;
	untracked(() => {
		matcher.cancel();
		tooSlow.value = '';
		if (!regexp || !names) {
			matches.value = null;
			return;
		}
		matcher.ask(names, regexp, (byName) => {
			if (byName)
				matches.value = { names, source: regexp.source, byName };
			else
				tooSlow.value = regexp.source;
		});
	});
});

export const found = computed<Found | null>(() => {
	const d = flame.value, m = matches.value;
	return d && d.total && !d.joined && m && m.names === d.names && m.source === pattern.value?.regexp.source ? searchBoxes(d, m.byName, zoomed.value) : null;
});

export const focused = signal(-1);	// box focused by keyboard or by "next match"

export function escape(text: string): string {
	return text.replace(/[\\^$.*+?()[\]{}|]/g, '\\$&');
}

// The search text for a clicked function.
export function searchFor(name: string): string {
	return `^${escape(name)}$`;
}
