// Functions with their values, in every metric if there is room: the same content as the graph, as a table. Only
// visible rows are in the document, so that a hundred thousand functions scroll as well as ten.

import { computed, effect, signal } from '@preact/signals';
import { useEffect, useLayoutEffect, useMemo, useRef, useState } from 'preact/hooks';
import { tableQuery } from './api';
import * as format from './format';
import type { FlameData } from './flame/data';
import { searchFor, zoomed } from './found';
import { flame, table } from './load';
import { fuzzyFilter } from './picker';
import { fileOf, openAt } from './places';
import { ordered, rowsOfBoxes, rowsOfTable, text, type Metric, type Rows } from './rows';
import { filter, functionAddress, onPaper, order, pane, search, setOrder, setSearch, setTableFilter, view, type Order } from './state';
import { keepFocus, walkTable } from './table_keys';

const HEIGHT = 25, AROUND = 12, PRINTED = 200, LONGEST_LINK = 8000;		// of the server's 8192 bytes, with room for what questions add

// The zoom that the rows follow: large graphs are zoomed first and summed up afterwards, so that no frame of the zoom
// waits for the sums.
const LARGE = 20_000, SETTLE_MS = 250;
const settled = signal<{ data: FlameData | null; box: number }>({ data: null, box: 0 });
let settling: ReturnType<typeof setTimeout> | undefined;

effect(() => {
	const data = flame.value, box = zoomed.value, settle = () => settled.value = { data, box };
	clearTimeout(settling);
	if (box > 0 && data!.count > LARGE)
		settling = setTimeout(settle, SETTLE_MS);
	else
		settle();
});

const NOTHING: Rows = { names: [], places: [], metrics: [], chosen: '', atMost: new Set() };
const rows = computed<Rows>(() => {
	const d = flame.value, t = table.value, { data, box } = settled.value;
	if (d && data === d && box > 0)
		return d.joined ? NOTHING : rowsOfBoxes(d, box);		// all boxes have been requested
	return t ? rowsOfTable(t) : d && d.total && !d.joined ? rowsOfBoxes(d, 0) : NOTHING;
});

// All metrics in a table of full width, where names come first and stay visible. The chosen column comes first;
// beside the graph there is only room for that one.
function shownMetrics(r: Rows): Metric[] {
	const mine = r.metrics.filter((m) => m.group === r.chosen);
	if (pane.value !== 'table')
		return mine.some((m) => m.isChange) ? mine.filter((m) => m.isChange) : mine;
	return [...mine, ...r.metrics.filter((m) => m.group !== r.chosen)];
}

// "Only my code" also shows functions.
function thing(): string {
	const { by } = view.value;
	return by && by !== 'own' ? by : 'function';
}

function isSorted(s: Order, m: Metric, chosen: string): boolean {
	return s.kind === m.kind && (s.group || chosen) === m.group;
}

function Head({ m, chosen, span }: { m?: Metric; chosen: string; span?: number }) {
	const s = order.value, mine = m ? isSorted(s, m, chosen) : s.kind === '';
	const by = m ? { group: m.group === chosen ? '' : m.group, kind: m.kind as string } : { group: '', kind: '' };
	return <th scope="col" colSpan={span} class={m ? m.kind : 'name'} aria-sort={mine ? (s.down ? 'descending' : 'ascending') : 'none'}>
		<button type="button" tabIndex={-1} onClick={() => setOrder({ ...by, down: mine ? !s.down : by.kind !== '' })}>
			{m ? m.title : thing()}<span aria-hidden="true" class="arrow">{mine ? (s.down ? '▾' : '▴') : ''}</span>
		</button>
	</th>;
}

function Cell({ m, i, atMost, wide }: { m: Metric; i: number; atMost: Set<number>; wide: boolean }) {
	const v = m.values[i], words = text(m, i, atMost), share = m.shares ? format.share(m.shares.values[i], m.shares.whole) : format.share(v, m.whole);
	if (m.isChange)
		return <td class={m.sure && !m.sure.has(i) ? 'quiet' : v > 0 ? 'more' : v < 0 ? 'less' : ''} title={`${share} of all`}>{words}</td>;
	const limit = words.startsWith('≤') ? '≤' : '';
	return <td title={words}>
		<meter aria-hidden="true" min={0} max={m.whole || 1} value={v} />
		{wide && <span class="amount">{words}</span>}
		<span>{limit}{share}</span>
	</td>;
}

function Name({ name, place }: { name: string; place: string }) {
	const wanted = searchFor(name), chosen = search.value === wanted;
	return <th scope="row" title={place ? `${name}\n${place}` : name}><div class="name-cell">
		<button type="button" tabIndex={-1} class="icon mark" aria-pressed={chosen} title="Mark it in the graph" aria-label={`Mark ${name} in the graph`}
			onClick={() => setSearch(chosen ? '' : wanted, true)}>
			<svg viewBox="0 0 16 16" aria-hidden="true"><circle cx="7" cy="7" r="4.5" /><path d="m10.5 10.5 3.5 3.5" /></svg></button>
		<FunctionLink name={name} place={place} />
		{place && !name.includes(place.replace(/:\d+$/, '')) && <small>{place.replace(/^.*\/(?=[^/]+\/[^/]+$)/, '')}</small>}
	</div></th>;
}

// If the name must be truncated, the method stays: first the namespace or the folder is shortened, then the class.
export function FunctionLink({ name, place }: { name: string; place: string }) {
	const method = name.lastIndexOf('::'), isPath = /^({closure:)?\//.test(name);
	const end = 1 + (isPath ? name.lastIndexOf('/') : name.lastIndexOf('\\', method > 0 ? method : undefined)), middle = isPath || method < end ? end : method;
	const parts = <>{end > 0 && <span class="space-of">{name.slice(0, end)}</span>}{middle > end && <span class="class-of">{name.slice(end, middle)}</span>}<span>{name.slice(middle)}</span></>;
	const to = functionAddress(name, fileOf(name, place));
	if (!IN_FILE && to.length > LONGEST_LINK)
		return <span class="function-link" title={`The name is too long for a link: ${name}`}>{parts}</span>;
	return <a class="function-link" tabIndex={-1} href={to} onClick={(e) => {
		if (e.ctrlKey || e.metaKey || e.shiftKey)
			return;
		e.preventDefault();
		openAt(name, place);
	}}>{parts}</a>;
}

function Heads({ metrics, chosen, wide }: { metrics: Metric[]; chosen: string; wide: boolean }) {
	const groups = [...new Set(metrics.map((m) => m.group))];
	return <thead>
		{wide && <tr class="groups"><td class="name" />{groups.map((g) => <th key={g} scope="colgroup" colSpan={metrics.filter((m) => m.group === g).length}>{format.columnName(g)}</th>)}</tr>}
		<tr>{wide && <Head chosen={chosen} />}{metrics.map((m) => <Head key={m.group + m.kind} m={m} chosen={chosen} />)}{!wide && <Head chosen={chosen} />}</tr>
	</thead>;
}

// The position in the last table, for returning from one of its functions.
let left = { table: '', top: 0, focus: '' };

// The focused link or button, as a selector; rows out of sight are not in the document.
function focusIn(region: HTMLElement): string {
	const e = document.activeElement!, row = e.closest<HTMLElement>('.functions tbody tr');
	return row ? `[aria-rowindex="${row.ariaRowIndex}"] ${e.localName}` : e === region ? '.functions .rows' : '';
}

// Restores that position; another table, order or filter begins at the top.
function usePlace(box: { current: HTMLElement | null }, table: string): void {
	useLayoutEffect(() => {
		const region = box.current!, isBack = left.table === table;
		region.scrollTop = isBack ? left.top : 0;
		if (isBack && left.focus)
			document.querySelector<HTMLElement>(left.focus)?.focus({ preventScroll: true });
		return () => left = { table, top: region.scrollTop, focus: focusIn(region) };
	}, [table]);
}

export function Table() {
	const box = useRef<HTMLDivElement>(null), by = order.value, needle = filter.value, wide = pane.value === 'table', me = [tableQuery(view.value), needle, by.group, by.kind, by.down].join();
	const [at, setAt] = useState(left.table === me ? left.top : 0), [height, setHeight] = useState(600);
	const r = rows.value, metrics = shownMetrics(r);

	const shown = useMemo(() => {
		const hit = fuzzyFilter(r.names, needle), metric = r.metrics.find((m) => isSorted(by, m, r.chosen));
		const fallback = r.metrics.find((m) => m.kind === 'self' && m.group === r.chosen);
		return ordered(r, hit || [...r.names.keys()], by.kind === '' ? undefined : metric || fallback, by.down);
	}, [r, needle, by]);

	useEffect(() => {
		const watcher = new ResizeObserver(() => setHeight(box.current!.clientHeight));
		watcher.observe(box.current!);
		return () => watcher.disconnect();
	}, []);
	usePlace(box, me);

	const paper = onPaper.value, first = paper ? 0 : Math.max(0, Math.floor(at / HEIGHT) - AROUND), last = Math.min(shown.length, paper ? PRINTED : Math.ceil((at + height) / HEIGHT) + AROUND);
	useLayoutEffect(() => void (box.current!.scrollTop = at), [paper]);
	const mine = metrics[0], columns = metrics.length + 1, base = mine && mine.whole > mine.sum ? `, shares of ${format.value(mine.whole, mine.unit)}` : '';
	const all = mine && !mine.isChange ? `${format.value(mine.sum, mine.unit)}${format.isCount(mine.unit) ? ` ${format.columnName(r.chosen)}` : ''}${base} · ` : '';
	const things = `${format.count(shown.length)} ${plural(thing(), shown.length)}`;

	return <section class="functions" aria-label="Functions">
		<div class="tools">
			<input id="narrow" type="text" class="narrow" placeholder={`filter ${plural(thing(), 2)}`} aria-label="Filter functions" value={needle}
				spellcheck={false} autocomplete="off" onInput={(e) => setTableFilter(e.currentTarget.value)} />
			<span class="sum">{r.metrics.length ? all + things : ''}</span>
		</div>
		<div class="rows" ref={box} tabIndex={0} role="region" aria-label="Table of functions: arrow keys walk its rows and headings" onKeyDown={walkTable} onScroll={(e) => {
			keepFocus(e.currentTarget);
			setAt(e.currentTarget.scrollTop);
		}}>
			<table aria-rowcount={shown.length + 1} class={wide ? 'wide' : ''} style={{ '--columns': metrics.length }}>
				<colgroup>{wide && <col />}{metrics.map((m) => <col key={m.group + m.kind} class={wide ? 'c-wide' : 'c-share'} />)}{!wide && <col />}</colgroup>
				<Heads metrics={metrics} chosen={r.chosen} wide={wide} />
				<tbody>
					{first > 0 && <tr class="gap" aria-hidden="true" style={{ height: `${first * HEIGHT}px` }}><td colSpan={columns} /></tr>}
					{shown.slice(first, last).map((i, n) => <tr key={first + n} class={search.value && search.value === searchFor(r.names[i]) ? 'chosen' : ''} aria-rowindex={first + n + 2}>
						{wide && <Name name={r.names[i]} place={r.places[i]} />}
						{metrics.map((m) => <Cell key={m.group + m.kind} m={m} i={i} atMost={r.atMost} wide={wide} />)}
						{!wide && <Name name={r.names[i]} place={r.places[i]} />}
					</tr>)}
					{!paper && last < shown.length && <tr class="gap" aria-hidden="true" style={{ height: `${(shown.length - last) * HEIGHT}px` }}><td colSpan={columns} /></tr>}
				</tbody>
			</table>
			{r.metrics.length > 0 && !shown.length && <p class="none">no {thing()} like “{needle}”</p>}
			{paper && last < shown.length && <p class="note">The first {last} of {things}.</p>}
		</div>
	</section>;
}

function plural(thing: string, n: number): string {
	return n === 1 ? thing : thing === 'class' ? 'classes' : `${thing}s`;
}
