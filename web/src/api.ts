// Answers of the server. Errors are always sentences for people.

import { readFlame, type Column, type FlameData } from './flame/data';
import { queryOf, type View } from './state';

export interface Label {
	key: string;
	values: { value: string; samples: number }[];
}

export interface Timeline {
	from: number;
	to: number;
	step: number;
	samples: number[];
	values?: { value: string; samples: number[] }[];	// values of the split label, the largest first
	others?: number[];
}

// Every function with every metric: one list per column. In a comparison the lists are before and after of one metric.
export interface TableAnswer {
	columns: Column[];
	column: number;
	count: number;
	name: string[];
	file: string[];
	line: number[];
	self: number[][];
	total: number[][];
	at_most: number[];		// rows whose totals are limits
	whole?: [before: number, after: number];
	self_changed?: number[];	// rows whose change exceeds the noise
	total_changed?: number[];
	self_measured?: number[];	// before scaling: the base of its shares
	total_measured?: number[];
	whole_measured?: number;
	warning?: string;
}

// Values by column; in a comparison before and after.
export interface Edge {
	name: string | null;		// null: no caller, at the root
	file: string;
	line: number;
	values: number[];
	measured?: number;		// before scaling
	at_most: boolean;
	itself: boolean;
}

export interface FunctionAnswer {
	columns: Column[];
	column: number;
	function: { name: string; file: string; line: number; places: number; files: string[]; self: number[]; total: number[]; again: number[]; at_most: boolean; self_measured?: number; total_measured?: number };
	callers: Edge[];
	callees: Edge[];
}

// Values by side: before and after in a comparison, else one.
export interface SourceLine {
	line: number;
	self: number[];
	total: number[];
	hot: boolean;
	text: string | null;		// null: the source has no such line
}

export interface SourceAnswer {
	columns: Column[];
	column: number;
	file: string | null;
	others: string[];
	other_count: number;
	start: number;
	self: number[];
	total: number[];
	whole: number[];
	source: 'unknown' | 'unchanged' | 'changed' | 'missing';
	why: string | null;
	lines: SourceLine[];
}

export interface Status {
	version: string;
	now: number;
	ready: boolean;
	not_ready: string | null;
	samples?: { stored: number; queued: number; dropped: { queue_full: number }; dropped_by_senders: Record<string, number>;
		last: number | null };
	store?: { newest: number | null; samples_stored: number };
}

export async function get(path: string, query: string, signal: AbortSignal): Promise<Response> {
	let answer: Response;
	try {
		answer = await fetch(`${path}?${query}`, { signal, credentials: 'same-origin' });
	} catch (why) {
		if (signal.aborted)
			throw why;
		throw new Error('the server does not answer; is strobe serve running?');
	}
	if (answer.ok)
		return answer;
	if (answer.status === 401)
		location.href = `/login?next=${encodeURIComponent(location.pathname + location.search)}${location.hash}`;
	const said = await answer.json().catch(() => null);
	throw new Error(said?.error || `the server answered ${answer.status}`);
}

// Queries, including only what their answers depend on. The canvas decides which way up a graph is.
export const PLAIN = { inverted: false, threshold: '', lines: '' };

// The graph around one function is computed from the unreversed one.
export function flameQuery(v: View): string {
	return queryOf({ ...v, ...PLAIN, function: '', reverse: v.reverse && !v.function }, { format: 'flame' });
}

// The boxes of that graph that are visible on this screen while a box is zoomed. If the URL would be too long, all
// boxes are requested.
export function partQuery(query: string, zoom: string[]): string {
	const pixels = Math.min(20000, Math.ceil(Math.max(innerWidth, screen.width) * devicePixelRatio));
	const part = `${query}&pixels=${pixels}&zoom=${encodeURIComponent(zoom.map(encodeURIComponent).join(';'))}`;
	return part.length < 8000 ? part : query;
}

export function tableQuery(v: View): string {
	return queryOf({ ...v, ...PLAIN, function: '', reverse: false });
}

export function functionQuery(v: View): string {
	return v.function && queryOf({ ...v, ...PLAIN, reverse: false });
}

// Namespaces and packages have no source.
export function sourceQuery(v: View): string {
	return v.function && ['', 'function', 'own', 'class', 'file', 'line'].includes(v.by) ? queryOf({ ...v, ...PLAIN, lines: v.lines, reverse: false }) : '';
}

export async function getFlame(query: string, signal: AbortSignal): Promise<FlameData> {
	return readFlame(await (await get('/api/v1/profile', query, signal)).arrayBuffer());
}

export async function getTable(query: string, signal: AbortSignal): Promise<TableAnswer> {
	return (await get('/api/v1/table', query, signal)).json();
}

export async function getFunction(query: string, signal: AbortSignal): Promise<FunctionAnswer> {
	return (await get('/api/v1/function', query, signal)).json();
}

export async function getSource(query: string, signal: AbortSignal): Promise<SourceAnswer> {
	return (await get('/api/v1/source', query, signal)).json();
}

function rangeQuery(v: View): string {
	return queryOf({ ...v, ...PLAIN, column: '', by: '', function: '', reverse: false, subject: [] });
}

export function timelineQuery(v: View): string {
	return rangeQuery(v) + (v.split && `&split=${encodeURIComponent(v.split)}`);
}

// Choices of labels are those in the range, regardless of the current filters.
export async function getLabels(v: View, signal: AbortSignal): Promise<Label[]> {
	const answer = await get('/api/v1/labels', rangeQuery({ ...v, filters: [] }), signal);
	return (await answer.json()).labels;
}

export async function getTimeline(v: View, signal: AbortSignal): Promise<Timeline> {
	return (await get('/api/v1/timeline', timelineQuery(v), signal)).json();
}

export async function getStatus(signal: AbortSignal): Promise<Status> {
	return (await get('/api/v1/status', '', signal)).json();
}
