// Filters of stacks by regular expressions. They may come with the URL, so each is tried in a worker before it is
// used: one that takes too long is stopped, and reported.

import { Matcher } from '../matcher';
import { compile } from '../picture/words';
import { isStackFilter as isFilter, view } from '../state';
import { facts } from './start';

export type FilterPair = [key: string, text: string];

const nameOf = ([key, text]: FilterPair) => `${key.endsWith('-i')} ${text}`;

type Result = Uint8Array | 'given up' | 'invalid';	// the names that match

const results = new Map<string, Result>(), matcher = new Matcher();
let queue = Promise.resolve();

function tried(names: string[], [key, text]: FilterPair): Promise<Result> {
	const pattern = compile(text, key.endsWith('-i'));
	return new Promise((resolve) => pattern ? matcher.ask(names, pattern, (byName) => resolve(byName || 'given up')) : resolve('invalid'));
}

// The filters that apply. The names never change.
export function usable(names: string[], filters: FilterPair[]): Promise<FilterPair[]> {
	const next = queue.then(async () => {
		for (const [name, result] of results)
			if (result === 'given up' && !filters.some((f) => nameOf(f) === name))
				results.delete(name);		// the machine may have been busy
		for (const filter of filters)
			if (!results.has(nameOf(filter)))
				results.set(nameOf(filter), await tried(names, filter));
		return filters.filter((f) => matchOf(f));
	});
	queue = next.then(() => {});
	return next;
}

export function matchOf(filter: FilterPair): Uint8Array | null {
	const result = results.get(nameOf(filter));
	return result instanceof Uint8Array ? result : null;
}

// The reason why a filter does not apply; '' if it does.
export function fault(filter: FilterPair): string {
	const result = results.get(nameOf(filter));
	return typeof result === 'string' ? result : '';
}

// Parts of a server page's URL that a file cannot answer.
function missing(): string {
	const { by, subject } = view.value, keys = [...new Set(subject.map(([key]) => key))];
	return [by === 'line' && !facts().grouped && 'This file has no grouping by line', keys.length && `This file cannot show another ${keys.join(', ')}; it stays as it was written`].filter(Boolean).join('. ');
}

export function filterWarning(filters: FilterPair[]): string {
	const list = (why: string) => filters.filter((f) => isFilter(f) && fault(f) === why).map(([, text]) => text).join(', '), slow = list('given up'), wrong = list('invalid');
	return [missing(), slow && `Filter stopped, it takes too long: ${slow}`, wrong && `Filter ignored, invalid regular expression: ${wrong}`].filter(Boolean).join('. ');
}
