// Keeps data in sync with the view: a change of the view sends a request, the newest request wins, and the old
// picture stays until the answer arrives. For large graphs the server sends only visible boxes, so a zoom sends
// another request. A search, the graphs around a function and the table of a zoomed box need all of them.

import { computed, effect, signal, untracked } from '@preact/signals';
import { flameQuery, functionQuery, getFlame, getFunction, getLabels, getSource, getStatus, getTable, getTimeline, partQuery, sourceQuery, tableQuery, timelineQuery, type FunctionAnswer,
	type Label, type SourceAnswer, type Status, type TableAnswer, type Timeline } from './api';
import type { FlameData } from './flame/data';
import { hasGray } from './flame/gray';
import { kind, live, pane, search, view, zoom } from './state';

const LIVE_MS = 10_000, STATUS_MS = 5_000;

export const flame = signal<FlameData | null>(null);
export const table = signal<TableAnswer | null>(null);
export const around = signal<FunctionAnswer | null>(null);	// view.function with its callers and callees
export const functionFailed = signal('');
export const source = signal<SourceAnswer | null>(null);	// the source of view.function
export const sourceFailed = signal('');
export const labels = signal<Label[]>([]);
export const timeline = signal<Timeline | null>(null);
export const status = signal<Status | null>(null);
export const loading = signal(true);		// the graph
const loadingTable = signal(true), loadingFunction = signal(false);
export const waiting = computed(() => loading.value || loadingTable.value || !!view.value.function && loadingFunction.value);
export const failed = signal('');

// Runs `ask` and passes its answer on, unless it was called again in between. With `waits` a pending request is not
// repeated.
function asker<T>(ask: (signal: AbortSignal) => Promise<T>, got: (answer: T) => void, bad: (why: string) => void) {
	let running: AbortController | null = null;
	return async (waits = false) => {
		if (waits && running)
			return;
		running?.abort();
		const mine = running = new AbortController();
		try {
			const answer = await ask(mine.signal);
			if (running === mine)
				got(answer);
		} catch (why) {
			if (running === mine)
				bad((why as Error).message);
		}
		if (running === mine)
			running = null;
	};
}

const allOf = signal('');		// the graph that needs all boxes
const wantsAll = computed(() => !!search.value || !!view.value.function || allOf.value === flameQuery(view.value));
const wantedPart = () => wantsAll.value ? null : zoom.value;
let askedPart: string[] | null = [];

export function showAllBoxes(): void {
	allOf.value = flameQuery(view.peek());
}

const askFlame = asker((s) => {
	const query = flameQuery(view.peek());
	askedPart = untracked(wantedPart);
	return getFlame(askedPart ? partQuery(query, askedPart) : query, s);
}, (d) => {
	flame.value = d;
	failed.value = '';
	loading.value = false;
}, (why) => {
	flame.value = null;
	failed.value = why;
	loading.value = false;
});
const askTable = asker((s) => getTable(tableQuery(view.peek()), s), (t) => {
	table.value = t;
	loadingTable.value = false;
}, () => {
	table.value = null;
	loadingTable.value = false;
});
const askFunction = asker((s) => {
	loadingFunction.value = true;
	return getFunction(functionQuery(view.peek()), s);
}, (f) => {
	around.value = f;
	functionFailed.value = '';
	loadingFunction.value = false;
}, (why) => {
	around.value = null;
	functionFailed.value = why;
	loadingFunction.value = false;
});
const askSource = asker((s) => getSource(sourceQuery(view.peek()), s), (f) => {
	source.value = f;
	sourceFailed.value = '';
}, (why) => {
	source.value = null;
	sourceFailed.value = why;
});
const askTimeline = asker((s) => getTimeline(view.peek(), s), (t) => timeline.value = t, () => timeline.value = null);
const askLabels = asker((s) => getLabels(view.peek(), s), (l) => labels.value = l, () => labels.value = []);
const askStatus = asker(getStatus, (s) => status.value = s, () => status.value = null);

// The graph is loaded first, so that the table does not compete with it.
let rounds = 0;

async function askBoth(waits = false): Promise<void> {
	if (waits && (loading.value || loadingTable.value))
		return;
	const round = ++rounds;
	loading.value = loadingTable.value = true;
	await askFlame();
	if (round === rounds)
		void askTable();
}

// Whether the current view needs boxes that were not sent.
function lacksBoxes(d: FlameData | null, part: string[] | null): boolean {
	if (!d?.joined || part && part.join(';') === askedPart?.join(';'))
		return false;
	return part ? part.length > 0 && hasGray(d, d.find(part)) : askedPart !== null;
}

// The call graph, which loads only while it is shown, is drawn again when this number changes.
export const refreshes = signal(0), loadingCalls = signal(false);

function askAll(waits: boolean): void {
	void askBoth(waits);
	if (!waits || !loadingCalls.peek())
		refreshes.value++;
	if (view.peek().function)
		void askFunction(waits);
	if (sourceQuery(view.peek()))
		void askSource(waits);
	if (kind.peek() !== 'range')
		return;
	void askTimeline(waits);
	void askLabels(waits);
}

export function refresh(): void {
	askAll(false);
}

export function startLoading(): void {
	let flameAsked: string | null = null, tableAsked: string | null = null, functionAsked = '', sourceAsked = '', timelineAsked = '', named = '';
	effect(() => {
		const v = view.value, flameKey = flameQuery(v), tableKey = tableQuery(v), functionKey = functionQuery(v), sourceKey = sourceQuery(v), timelineKey = timelineQuery(v);
		untracked(() => {
			if (around.value?.function.name !== v.function)
				around.value = null;
			if (functionKey && functionKey !== functionAsked)
				void askFunction();
			if (named !== v.by + v.function) {
				source.value = null;
				sourceFailed.value = '';
			}
			if (sourceKey && sourceKey !== sourceAsked)
				void askSource();
			if (tableKey !== tableAsked && kind.value === 'range')
				void askLabels();
			if (kind.value === 'range' && (tableKey !== tableAsked || timelineKey !== timelineAsked))
				void askTimeline();
			if (tableKey !== tableAsked) {
				void askBoth();
			} else if (flameKey !== flameAsked) {
				loading.value = true;
				void askFlame();
			}
			[flameAsked, tableAsked, functionAsked, sourceAsked, timelineAsked, named] = [flameKey, tableKey, functionKey, sourceKey, timelineKey, v.by + v.function];
		});
	});
	effect(() => {
		const d = flame.value, part = wantedPart(), tabled = part?.length && !loading.value && (pane.value === 'both' || pane.value === 'table');
		untracked(() => {
			if (lacksBoxes(d, part)) {
				loading.value = true;
				void askFlame();
			} else if (d?.joined && tabled) {
				showAllBoxes();
			}
		});
	});
	if (kind.peek() !== 'range')
		return;
	effect(() => {
		if (!live.value)
			return;
		const timer = setInterval(() => document.hidden || askAll(true), LIVE_MS);		// the next round asks what this one waits for
		return () => clearInterval(timer);
	});
	void askStatus();
	setInterval(() => document.hidden || void askStatus(true), STATUS_MS);
}
