// Regular expressions that people type are tried in a worker before the page uses them: one that takes for ever takes a thread that can
// be ended, and not the page.

const DEADLINE = 1000;	// ms
const TRY = 'onmessage=e=>{for(const n of e.data[0])e.data[1].test(n);postMessage(0)}';

// Two repetitions, or one and a choice, or many choices. All else takes at most the square of a name's length, times 2 per choice.
const SLOW = /[*+?{].*[*+?{|]|\|(.*[*+?{]|(.*\|){9})/;

// Says of a pattern whether it came to an end over all names in time; undefined while that is not known. `ended` is called when it is. Where
// the viewer permits no workers, slow patterns are given up.
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
