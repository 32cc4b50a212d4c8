// Matches users' regular expressions against names: in a worker that can be terminated, unless they are harmless. One
// that takes too long is stopped.

import { matchNames } from './flame/data';
import type { MatchRequest } from './match';
import { newWorker } from './worker';

const DEADLINE_MS = 1000;

// Without repetitions, and with few alternatives, the time is proportional to the length of names.
function isHarmless(source: string): boolean {
	return !/[*+{?]|(\|.*){9}/.test(source.replace(/\\./g, ''));
}

export class Matcher {
	private worker: Worker | null = null;
	private known: string[] | null = null;
	private deadline = 0;

	// Calls `got` with the names that match, or with null if the pattern was stopped. Only the newest request
	// counts; a worker that is busy with another one is not waited for.
	ask(names: string[], pattern: RegExp, got: (byName: Uint8Array | null) => void): void {
		this.cancel();
		if (isHarmless(pattern.source)) {
			got(matchNames(names, pattern));
			return;
		}
		const worker = this.start(), { source, flags } = pattern;
		if (!worker) {
			got(null);
			return;
		}
		const question: MatchRequest = this.known === names ? { source, flags } : { names, source, flags };
		this.known = names;
		worker.onmessage = ({ data }: MessageEvent<Uint8Array>) => {
			worker.onmessage = null;
			this.cancel();
			got(data);
		};
		const giveUp = () => {
			clearTimeout(this.deadline);
			this.stop();
			got(null);
		};
		worker.onerror = giveUp;
		this.deadline = setTimeout(giveUp, DEADLINE_MS);
		worker.postMessage(question);
	}

	// Some viewers do not allow workers.
	private start(): Worker | null {
		try {
			return this.worker ||= newWorker();
		} catch {
			return null;
		}
	}

	cancel(): void {
		clearTimeout(this.deadline);
		if (this.worker?.onmessage)
			this.stop();
	}

	stop(): void {
		this.worker?.terminate();
		this.worker = this.known = null;
	}
}
