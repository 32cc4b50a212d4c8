// Controls that only a page in a file has, as the server has others: only some of the stacks, other colours, other widths of a
// difference.

import { escape, focused, found, pattern } from '../found';
import { flame } from '../load';
import { change, filtersOf, search, setSearch, setFilters, view } from '../state';
import { fault, isFilter } from './filters';
import { colors, firstColors, ofSelf, type Colors } from './paint';
import { facts } from './start';

// The search, or the marked box, as a filter.
function filterText(): [key: string, text: string] | null {
	const d = flame.value, box = focused.value;
	if (search.value && found.value?.hits.length)
		return ['-i', pattern.value?.plain ? escape(search.value) : search.value];
	return d && box > 0 ? ['', `^${escape(d.name(box))}$`] : null;
}

function filter(kind: 'keep' | 'remove'): void {
	const what = filterText();
	if (!what)
		return;
	change({ filters: [...view.peek().filters, [kind + what[0], what[1]]] });
	setSearch('', false);
}

function Filters() {
	const off = !filterText(), given = view.value.filters;
	return <>
		<div class="segments" role="group" aria-label="Filter stacks">
			<button type="button" disabled={off} title="Keep only stacks through the matches, or the marked box" onClick={() => filter('keep')}>keep</button>
			<button type="button" disabled={off} title="Remove stacks through the matches, or the marked box" onClick={() => filter('remove')}>remove</button>
		</div>
		{given.some(isFilter) && <span class="chips" role="group" aria-label="Filters">
			{given.map((pair, i) => isFilter(pair) && <button key={i} type="button" class={fault(pair) && 'off'} title="Clear this filter"
				onClick={() => change({ filters: given.filter((_, k) => k !== i) })}>{fault(pair) ? `${fault(pair)}:` : pair[0].startsWith('keep') ? 'with' : 'without'} {pair[1]} ×</button>)}
		</span>}
	</>;
}

const COLORS: [Colors, string][] = [['page', 'namespace'], ['function', 'palette'], ['layer', 'layer'], ['package', 'package']];

function ColorChoice() {
	const choose = (to: string) => setFilters('color', to === firstColors() ? [] : [to]);
	return <>
		<label>colours <select aria-label="Colours" value={colors.value} onChange={(e) => choose(e.currentTarget.value)}>
			{COLORS.filter(([c]) => c !== 'function' || facts().hasColors).map(([c, words]) => <option key={c} value={c}>{words}</option>)}
		</select></label>
		{colors.value === 'layer' && <span class="legend layers">{facts().layers.map(([name, color]) => <span key={name}><i style={{ background: color }} />{name}</span>)}</span>}
	</>;
}

const WIDTHS = [['', 'larger side'], ['after', 'after'], ['before', 'before'], ['difference', 'change']];

function DifferenceChoice() {
	const first = facts().widthOf === 'maximum' ? '' : facts().widthOf || '', now = filtersOf('width')[0] ?? first, self = ofSelf.value;
	return <>
		<label>width <select aria-label="Width" value={now === 'maximum' ? '' : now}
			onChange={(e) => setFilters('width', e.currentTarget.value === first ? [] : [e.currentTarget.value || 'maximum'])}>
			{WIDTHS.map(([value, words]) => <option key={value} value={value}>{words}</option>)}
		</select></label>
		<button type="button" aria-pressed={self} title="Colours by self value, without callees"
			onClick={() => setFilters('self', !self === !!facts().self ? [] : [self ? '0' : '1'])}>self</button>
	</>;
}

export function FileTools() {
	return <>{facts().compared ? <DifferenceChoice /> : <ColorChoice />}<Filters /></>;
}
