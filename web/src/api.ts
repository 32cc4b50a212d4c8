// Answers of the server. An error is always a sentence that a person can read.

import { readFlame, type FlameData } from './flame/data';
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
}

export interface Status {
	version: string;
	now: number;
	ready: boolean;
	not_ready: string | null;
	samples?: { stored: number; queued: number; dropped: { queue_full: number }; dropped_by_senders: Record<string, number>;
		last: number | null };
}

async function get(path: string, query: string, signal: AbortSignal): Promise<Response> {
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
		location.href = `/login?next=${encodeURIComponent(location.pathname + location.search)}`;
	const said = await answer.json().catch(() => null);
	throw new Error(said?.error || `the server answered ${answer.status}`);
}

export async function getFlame(v: View, signal: AbortSignal): Promise<FlameData> {
	// Which way up is the canvas's business.
	const answer = await get('/api/v1/profile', queryOf({ ...v, inverted: false }, { format: 'flame' }), signal);
	return readFlame(await answer.arrayBuffer());
}

// Labels to choose from are those of the range, whatever has been chosen already.
export async function getLabels(v: View, signal: AbortSignal): Promise<Label[]> {
	const answer = await get('/api/v1/labels', queryOf({ ...v, column: '', reverse: false, inverted: false, filters: [] }), signal);
	return (await answer.json()).labels;
}

export async function getTimeline(v: View, signal: AbortSignal): Promise<Timeline> {
	const answer = await get('/api/v1/timeline', queryOf({ ...v, column: '', reverse: false, inverted: false }), signal);
	return answer.json();
}

export async function getStatus(signal: AbortSignal): Promise<Status> {
	return (await get('/api/v1/status', '', signal)).json();
}
