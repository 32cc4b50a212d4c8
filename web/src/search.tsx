// The search field, with buttons to step through matches.

import { focused, SEARCH_TITLE } from './found';
import { search, setSearch } from './state';

export function SearchField({ id, words, title, plain, any, go }: { id: string; words: string; title?: string; plain: boolean; any: boolean; go(step: number): void }) {
	const arrow = (step: number, name: string, key: string, path: string) => <button type="button" class="icon" title={`${name} (${key})`} aria-label={name} disabled={!any}
		onClick={() => go(step)}><svg viewBox="0 0 16 16" aria-hidden="true"><path d={path} /></svg></button>;
	return <div class="search" role="search">
		<svg viewBox="0 0 16 16" aria-hidden="true"><circle cx="7" cy="7" r="4.5" /><path d="m10.5 10.5 3.5 3.5" /></svg>
		<input id={id} type="text" placeholder="search by regexp" title={SEARCH_TITLE} aria-label="Search functions by regular expression"
			value={search.value} spellcheck={false} autocomplete="off" onInput={(e) => {
				focused.value = -1;
				setSearch(e.currentTarget.value, false);
			}} onKeyDown={(e) => {
				if (e.key === 'Enter')
					go(e.shiftKey ? -1 : 1);
				else if (e.key === 'Escape')
					setSearch('', false);
			}} />
		<output class={plain ? 'matched plain' : 'matched'} for={id} aria-live="polite" title={title}>{words}</output>
		{arrow(-1, 'Previous match', 'Shift+Enter', 'm10 3-5 5 5 5')}
		{arrow(1, 'Next match', 'Enter', 'm6 3 5 5-5 5')}
	</div>;
}
