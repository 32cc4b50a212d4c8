// Printing: the browser notifies before it lays a page out for print, and afterwards.

const media = matchMedia('print');

// Calls `tell` when printing begins and ends, and when the page is shown as if printed. Returns a function that stops
// this.
export function onPrint(tell: (on: boolean) => void): () => void {
	const stop = new AbortController(), { signal } = stop;
	addEventListener('beforeprint', () => tell(true), { signal });
	addEventListener('afterprint', () => tell(false), { signal });
	media.addEventListener('change', () => tell(media.matches), { signal });
	return () => stop.abort();
}
