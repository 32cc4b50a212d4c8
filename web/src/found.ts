// Finds boxes in the data at hand: the zoomed one, the matches of the search.

import { computed, effect, signal, untracked } from '@preact/signals';
import { matchNames, searchBoxes, type Found } from './flame/data';
import { flame } from './load';
import type { MatchRequest } from './match';
import { search, zoom } from './state';
import { newWorker } from './worker';

const DEADLINE_MS = 1000;

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

// --- Which names match ---

// Names of the data and which of them match; null while nobody knows.
const matches = signal<{ names: string[]; source: string; byName: Uint8Array } | null>(null);
export const tooSlow = signal('');		// the pattern that was given up

let worker: Worker | null = null, known: string[] | null = null, deadline = 0;

function give(names: string[], source: string, byName: Uint8Array): void {
	matches.value = { names, source, byName };
}

function stop(): void {
	worker?.terminate();
	worker = known = null;
}

// Without repetition a pattern takes no longer than the names are long.
function isHarmless(source: string): boolean {
	return !/[*+{?]/.test(source.replace(/\\./g, ''));
}

function ask(names: string[], source: string): void {
	const mine = worker ||= newWorker();
	const question: MatchRequest = known === names ? { source } : { names, source };
	known = names;
	mine.onmessage = ({ data }: MessageEvent<Uint8Array>) => {
		clearTimeout(deadline);
		mine.onmessage = null;
		give(names, source, data);
	};
	deadline = setTimeout(() => {
		stop();
		tooSlow.value = source;
	}, DEADLINE_MS);
	mine.postMessage(question);
}

// Only the newest question counts; a worker that is busy with another one is not waited for.
effect(() => {
	const regexp = pattern.value?.regexp, names = flame.value?.names;
	untracked(() => {
		if (worker?.onmessage)
			stop();
		clearTimeout(deadline);
		tooSlow.value = '';
		if (!regexp || !names)
			matches.value = null;
		else if (isHarmless(regexp.source))
			give(names, regexp.source, matchNames(names, regexp));
		else
			ask(names, regexp.source);
	});
});

export const found = computed<Found | null>(() => {
	const d = flame.value, m = matches.value;
	return d && d.total && !d.joined && m && m.names === d.names && m.source === pattern.value?.regexp.source ? searchBoxes(d, m.byName, zoomed.value) : null;
});

export const focused = signal(-1);	// box that the keyboard, or "next match", is at

export function escape(text: string): string {
	return text.replace(/[\\^$.*+?()[\]{}|]/g, '\\$&');
}

// The search that a click on a function starts.
export function searchFor(name: string): string {
	return `^${escape(name)}$`;
}
