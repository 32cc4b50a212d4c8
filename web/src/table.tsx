// Functions by self and total: the same content as the graph, as a table. Only the rows in sight are in the document,
// so that a hundred thousand functions scroll as well as ten.

import { signal } from '@preact/signals';
import { useEffect, useMemo, useRef, useState } from 'preact/hooks';
import type { Row } from './flame/data';
import * as format from './format';
import { rows, searchFor, zoomed } from './found';
import { flame } from './load';
import { fuzzyFilter } from './picker';
import { search, setSearch } from './state';

const HEIGHT = 25, AROUND = 12;

type Key = 'self' | 'total' | 'name';
const sort = signal<{ by: Key; down: boolean }>({ by: 'self', down: true });

function sorted(all: Row[]): Row[] {
	const { by, down } = sort.value, sign = down ? -1 : 1;
	return [...all].sort((a, b) => {
		const d = by === 'name' ? (a.name < b.name ? -1 : a.name > b.name ? 1 : 0) : a[by] - b[by];
		return sign * d || b.self - a.self || b.total - a.total || (a.name < b.name ? -1 : 1);
	});
}

function Head({ by, children }: { by: Key; children: string }) {
	const s = sort.value, mine = s.by === by;
	return <th scope="col" class={by} aria-sort={mine ? (s.down ? 'descending' : 'ascending') : 'none'}>
		<button type="button" onClick={() => sort.value = { by, down: mine ? !s.down : by !== 'name' }}>
			{children}<span aria-hidden="true" class="arrow">{mine ? (s.down ? '▾' : '▴') : ''}</span>
		</button>
	</th>;
}

function Cell({ v, all, unit }: { v: number; all: number; unit: string }) {
	return <td title={format.value(v, unit)}>
		<meter aria-hidden="true" min={0} max={all || 1} value={v} />
		<span>{format.share(v, all)}</span>
	</td>;
}

function Line({ row, index, all, unit }: { row: Row; index: number; all: number; unit: string }) {
	const d = flame.value!, place = d.place(row.frame), wanted = searchFor(row.name), chosen = search.value === wanted;
	return <tr class={chosen ? 'chosen' : ''} aria-rowindex={index + 2}>
		<Cell v={row.self} all={all} unit={unit} />
		<Cell v={row.total} all={all} unit={unit} />
		<th scope="row" title={place ? `${row.name}\n${place}` : row.name}>
			<button type="button" aria-pressed={chosen} onClick={() => setSearch(chosen ? '' : wanted, true)}>{row.name}</button>
			{place && !row.name.includes(place.replace(/:\d+$/, '')) && <small>{place.replace(/^.*\/(?=[^/]+\/[^/]+$)/, '')}</small>}
		</th>
	</tr>;
}

export function Table() {
	const box = useRef<HTMLDivElement>(null);
	const [needle, setNeedle] = useState(''), [at, setAt] = useState(0), [height, setHeight] = useState(600);
	const d = flame.value, list = rows.value, order = sort.value;

	const shown = useMemo(() => {
		const hit = fuzzyFilter(list.map((r) => r.name), needle);
		return sorted(hit ? hit.map((i) => list[i]) : list);
	}, [list, needle, order]);

	useEffect(() => {
		const watcher = new ResizeObserver(() => setHeight(box.current!.clientHeight));
		watcher.observe(box.current!);
		return () => watcher.disconnect();
	}, []);
	useEffect(() => {
		if (box.current)
			box.current.scrollTop = 0;
	}, [needle, order]);

	const unit = d?.about.columns[d.about.column]?.unit || 'count', all = d ? d.width[zoomed.value] : 0;
	const first = Math.max(0, Math.floor(at / HEIGHT) - AROUND), last = Math.min(shown.length, Math.ceil((at + height) / HEIGHT) + AROUND);
	const column = d?.about.columns[d.about.column]?.name || 'samples';

	return <section class="functions" aria-label="Functions">
		<div class="tools">
			<input type="text" class="narrow" placeholder="filter functions" aria-label="Filter functions" value={needle}
				spellcheck={false} autocomplete="off" onInput={(e) => setNeedle(e.currentTarget.value)} />
			<span class="sum">{d ? `${format.value(all, unit)} ${unit === 'count' ? format.columnName(column) : ''} · ${format.count(shown.length)} functions` : ''}</span>
		</div>
		<div class="rows" ref={box} tabIndex={0} role="region" aria-label="Table of functions" onScroll={(e) => setAt(e.currentTarget.scrollTop)}>
			<table aria-rowcount={shown.length + 1}>
				<colgroup><col class="c-share" /><col class="c-share" /><col /></colgroup>
				<thead><tr><Head by="self">Self</Head><Head by="total">Total</Head><Head by="name">Function</Head></tr></thead>
				<tbody>
					{first > 0 && <tr class="gap" aria-hidden="true" style={{ height: `${first * HEIGHT}px` }}><td colSpan={3} /></tr>}
					{shown.slice(first, last).map((r, i) => <Line key={r.frame} row={r} index={first + i} all={all} unit={unit} />)}
					{last < shown.length && <tr class="gap" aria-hidden="true" style={{ height: `${(shown.length - last) * HEIGHT}px` }}><td colSpan={3} /></tr>}
				</tbody>
			</table>
			{d && !shown.length && <p class="none">no function like “{needle}”</p>}
		</div>
	</section>;
}
