// Starts the worker of searches.

export function newWorker(): Worker {
	return new Worker(new URL('./match.ts', import.meta.url), { type: 'module', name: 'match' });
}
