// Answers that only views of views.ts request; this is loaded with them.

import { get, PLAIN } from './api';
import { readFlame, type FlameData } from './flame/data';
import { queryOf, type View } from './state';

// The flame chart of a run is by function, whatever the grouping.
export function chartQuery(v: View): string {
	return queryOf({ ...v, ...PLAIN, column: '', by: '', function: '', reverse: false });
}

// With `nth` the answer includes the position of a match that begins at `from` or later: 1 is the first, 0 the one
// before it.
export async function getChart(query: string, part: { from: number; to: number } | null, pixels: number, search: string, signal: AbortSignal, nth: number | '' = ''): Promise<FlameData> {
	const window = part ? `&chart_from=${part.from}&chart_to=${part.to}` : '';
	const bytes = await (await get('/api/v1/profile', `${query}&format=chart${window}&pixels=${Math.min(pixels, 20000)}&chart_search=${encodeURIComponent(search)}&chart_match=${nth}`, signal)).arrayBuffer();
	return readFlame(bytes);
}

// A picture by Graphviz, and a warning about omissions.
export interface CallGraphAnswer {
	svg: string;
	warning: string;
}

export async function getCallGraph(v: View, signal: AbortSignal): Promise<CallGraphAnswer> {
	const answer = await get('/api/v1/callgraph', queryOf({ ...v, inverted: false, lines: '', reverse: false }), signal), bytes = answer.headers.get('Strobe-Warning') || '';
	return { svg: await answer.text(), warning: new TextDecoder().decode(Uint8Array.from(bytes, (c) => c.charCodeAt(0))) };
}
