// Filters stacks: those through the searched or marked frames, or all others.

import { fault } from './file/filters';
import { isGray } from './flame/gray';
import { escape, focused, found, pattern } from './found';
import { flame } from './load';
import { change, isStackFilter, pane, search, setSearch, view } from './state';

// The search, or the marked box, as a filter.
function filterText(): [key: string, text: string] | null {
	const d = flame.value, box = focused.value;
	if (search.value && found.value?.hits.length)
		return ['-i', pattern.value?.plain ? escape(search.value) : search.value];
	return d && box > 0 && !isGray(d, box) ? ['', `^${escape(d.name(box))}$`] : null;
}

// The server's syntax lacks lookaround, flags of groups, and backreferences.
const UNKNOWN = /\(\?(?!:|<\w)|\\[1-9kpPuc]/;
const NO_FILTER = 'The server cannot filter by (?…) other than (?:…), nor by references or Unicode classes';

function filter(kind: 'keep' | 'remove'): void {
	const what = filterText();
	if (!what)
		return;
	const filters = view.peek().filters, key = kind + what[0];
	if (!filters.some(([k, text]) => k === key && text === what[1]))
		change({ filters: [...filters, [key, what[1]]] });
	setSearch('', false);
}

export function StackFilters() {
	const what = filterText(), unknown = !IN_FILE && what && what[0] && UNKNOWN.test(what[1]), off = !what || !!unknown, given = view.value.filters, why = (pair: [string, string]) => IN_FILE ? fault(pair) : '';
	return <>
		{(pane.value !== 'time' || view.value.function) && <div class="segments filter-stacks" role="group" aria-label="Filter stacks">
			<button type="button" disabled={off} title={unknown ? NO_FILTER : 'Keep only stacks through the matches, or the marked box'} onClick={() => filter('keep')}>keep</button>
			<button type="button" disabled={off} title={unknown ? NO_FILTER : 'Remove stacks through the matches, or the marked box'} onClick={() => filter('remove')}>remove</button>
		</div>}
		{given.some(isStackFilter) && <span class="chips" role="group" aria-label="Filters">
			{given.map((pair, i) => isStackFilter(pair) && <button key={i} type="button" class={why(pair) && 'off'} title="Clear this filter"
				onClick={() => change({ filters: given.filter((_, k) => k !== i) })}>{why(pair) ? `${why(pair)}:` : pair[0].startsWith('keep') ? 'with' : 'without'} {pair[1]} ×</button>)}
		</span>}
	</>;
}
