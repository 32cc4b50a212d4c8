// Starts the worker from the only script that a page in a file has.

import MatchWorker from '../match?worker&inline';

export function newWorker(): Worker {
	return new MatchWorker({ name: 'match' });
}
