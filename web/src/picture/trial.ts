// Users' regular expressions are tried in a worker before the page uses them: one that never ends blocks only that
// thread, which can be terminated.

const DEADLINE = 1000;	// ms
const TRY = 'onmessage=e=>{for(const n of e.data[0])e.data[1].test(n);postMessage(0)}';

// Two repetitions, or one and an alternative, or many alternatives. Other patterns take at most the square of a
// name's length, times 2 per alternative.
const SLOW = /[*+?{].*[*+?{|]|\|(.*[*+?{]|(.*\|){9})/;

// Returns a function that tells whether matching a pattern against all names ended in time; undefined while unknown.
// `ended` is called when that is known. If the viewer does not allow workers, slow patterns are rejected.
export function newTrial(names: string[], ended: () => void): (pattern: RegExp) => boolean | undefined {
	const results: Record<string, boolean | undefined> = {};
	return (pattern) => {
		const key = String(pattern);
		if (!SLOW.test(key))
			return true;
		if (!(key in results))
			try {
				const worker = new Worker(URL.createObjectURL(new Blob([TRY])));
				const end = (inTime: boolean) => {
					worker.terminate();
					results[key] ??= inTime;
					ended();
				};
				results[key] = undefined;
				worker.onmessage = () => end(true);
				worker.onerror = () => end(false);
				setTimeout(() => results[key] ?? end(false), DEADLINE);
				worker.postMessage([names, pattern]);
			} catch {
				results[key] = false;
			}
		return results[key];
	};
}
