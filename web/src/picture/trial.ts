// Regular expressions that people type are tried in a worker before the page uses them: one that takes for ever takes a thread that can
// be ended, and not the page.

const DEADLINE = 1000;	// ms
const TRY = 'onmessage=({data:[names,source,flags]})=>{const r=RegExp(source,flags);for(const n of names)r.test(n);postMessage(0)}';

// With one repetition or choice at most, matching takes at most the square of a name's length.
const isQuick = (pattern: RegExp) => pattern.source.replace(/\\./g, '').split(/[*+?{|]/).length < 3;

export class Trial {
	private readonly results = new Map<string, boolean | undefined>();

	constructor(private readonly names: string[], private readonly ended: () => void) {}

	// Whether it came to an end over all names in time; undefined while that is not known.
	of(pattern: RegExp): boolean | undefined {
		const key = String(pattern);
		if (isQuick(pattern))
			return true;
		if (!this.results.has(key))
			this.begin(key, pattern);
		return this.results.get(key);
	}

	private begin(key: string, { source, flags }: RegExp): void {
		let worker: Worker | undefined, timer = 0;
		const end = (result: boolean) => {
			worker?.terminate();
			clearTimeout(timer);
			this.results.set(key, result);
			this.ended();
		};
		this.results.set(key, undefined);
		try {
			const address = URL.createObjectURL(new Blob([TRY]));
			worker = new Worker(address);
			URL.revokeObjectURL(address);
		} catch {
			this.results.set(key, true);	// this viewer permits none
			return;
		}
		worker.onmessage = () => end(true);
		worker.onerror = () => end(true);
		timer = setTimeout(() => end(false), DEADLINE);
		worker.postMessage([this.names, source, flags]);
	}
}
