// Keeps what is shown in step with the view: a change of the view asks the server, the newest question wins, and the
// old picture stays until the new one is there.

import { effect, signal, untracked } from '@preact/signals';
import { getFlame, getLabels, getStatus, getTimeline, type Label, type Status, type Timeline } from './api';
import type { FlameData } from './flame/data';
import { live, queryOf, view } from './state';

const LIVE_MS = 10_000, STATUS_MS = 5_000;

export const flame = signal<FlameData | null>(null);
export const labels = signal<Label[]>([]);
export const timeline = signal<Timeline | null>(null);
export const status = signal<Status | null>(null);
export const loading = signal(true);
export const failed = signal('');

// Runs `ask` and hands its answer on, unless it was asked again meanwhile.
function asker<T>(ask: (signal: AbortSignal) => Promise<T>, got: (answer: T) => void, bad: (why: string) => void) {
	let running: AbortController | null = null;
	return async () => {
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
	};
}

const askFlame = asker((s) => getFlame(view.peek(), s), (d) => {
	flame.value = d;
	failed.value = '';
	loading.value = false;
}, (why) => {
	failed.value = why;
	loading.value = false;
});
const askTimeline = asker((s) => getTimeline(view.peek(), s), (t) => timeline.value = t, () => timeline.value = null);
const askLabels = asker((s) => getLabels(view.peek(), s), (l) => labels.value = l, () => labels.value = []);
const askStatus = asker(getStatus, (s) => status.value = s, () => status.value = null);

export function refresh(): void {
	loading.value = true;
	void askFlame();
	void askTimeline();
	void askLabels();
}

export function startLoading(): void {
	let asked = '';
	effect(() => {
		const key = queryOf({ ...view.value, inverted: false });
		untracked(() => {
			if (key !== asked || !flame.value)
				refresh();
			asked = key;
		});
	});
	effect(() => {
		if (!live.value)
			return;
		const timer = setInterval(() => document.hidden || refresh(), LIVE_MS);
		return () => clearInterval(timer);
	});
	void askStatus();
	setInterval(() => document.hidden || void askStatus(), STATUS_MS);
}
