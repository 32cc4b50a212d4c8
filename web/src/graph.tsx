// The flame graph with what belongs to it: search, which way up, where the zoom is, and what the pointer is on.

import { effect, useSignalEffect } from '@preact/signals';
import { useEffect, useRef, useState } from 'preact/hooks';
import { FlameView } from './flame/view';
import * as format from './format';
import { focused, found, pattern, zoomed } from './found';
import { flame, loading } from './load';
import { address, change, queryOf, search, setSearch, setZoom, view, zoom } from './state';

interface Tip {
	box: number;
	x: number;
	y: number;
}

function zoomTo(box: number): void {
	const d = flame.value;
	if (d && box !== zoomed.value)
		setZoom(d.path(box));
}

// --- Search ---

let hitAt = -1;

function goToHit(step: number, canvas: FlameView | null): void {
	const hits = found.value?.hits || [];
	if (!hits.length)
		return;
	hitAt = (hitAt + step + hits.length) % hits.length;
	const box = hits[hitAt];
	if (canvas && canvas.shownWidth(box) < 3)
		zoomTo(flame.value!.parent(box));
	focused.value = box;
}

function SearchField({ canvas }: { canvas: { current: FlameView | null } }) {
	const f = found.value, d = flame.value, all = d ? d.width[zoomed.value] : 0;
	const words = !f || !d ? '' : f.hits.length ? `${format.share(f.sum, all)} matched` : 'no match';
	const title = f && d ? `${format.value(f.sum, d.about.columns[d.about.column]?.unit || '')} of ${f.frames} functions in ${f.hits.length} places` : '';

	return <div class="search" role="search">
		<svg viewBox="0 0 16 16" aria-hidden="true"><circle cx="7" cy="7" r="4.5" /><path d="m10.5 10.5 3.5 3.5" /></svg>
		<input id="search" type="text" placeholder="search by regexp" aria-label="Search functions by regular expression"
			value={search.value} spellcheck={false} autocomplete="off" onInput={(e) => {
				hitAt = -1;
				focused.value = -1;
				setSearch(e.currentTarget.value, false);
			}} onKeyDown={(e) => {
				if (e.key === 'Enter')
					goToHit(e.shiftKey ? -1 : 1, canvas.current);
				else if (e.key === 'Escape')
					setSearch('', false);
			}} />
		<output class={pattern.value?.plain ? 'matched plain' : 'matched'} for="search" aria-live="polite" title={title}>{words}</output>
		<button type="button" class="icon" title="Previous match (Shift+Enter)" aria-label="Previous match" disabled={!f?.hits.length}
			onClick={() => goToHit(-1, canvas.current)}><svg viewBox="0 0 16 16" aria-hidden="true"><path d="m10 3-5 5 5 5" /></svg></button>
		<button type="button" class="icon" title="Next match (Enter)" aria-label="Next match" disabled={!f?.hits.length}
			onClick={() => goToHit(1, canvas.current)}><svg viewBox="0 0 16 16" aria-hidden="true"><path d="m6 3 5 5-5 5" /></svg></button>
	</div>;
}

// --- Toolbar ---

function CopyLink() {
	const [done, setDone] = useState(false);
	const copy = async () => {
		const about = flame.value?.about, iso = (s: number) => new Date(s * 1000).toISOString();
		const to = about ? address({ ...view.value, from: iso(about.from), to: iso(about.to) }) : address();
		try {
			await navigator.clipboard.writeText(location.origin + to);
			setDone(true);
			setTimeout(() => setDone(false), 1500);
		} catch {
			prompt('Link to this view', location.origin + to);
		}
	};
	return <button type="button" title="Copy a link to exactly this range and view" onClick={copy}>{done ? 'copied' : 'link'}</button>;
}

function Toolbar({ canvas }: { canvas: { current: FlameView | null } }) {
	const v = view.value, about = flame.value?.about;
	const columns = about?.columns || [];

	return <div class="tools">
		<SearchField canvas={canvas} />
		{columns.length > 1 && <select aria-label="Value" value={columns[about!.column].name}
			onChange={(e) => change({ column: e.currentTarget.value === columns[0].name ? '' : e.currentTarget.value })}>
			{columns.map((c) => <option key={c.name} value={c.name}>{format.columnName(c.name)}</option>)}
		</select>}
		<div class="segments">
			<button type="button" aria-pressed={v.reverse} title="Merge stacks from the leaf: what is costly, and who calls it"
				onClick={() => { change({ reverse: !v.reverse }); setZoom([]); }}>reversed</button>
			<button type="button" aria-pressed={v.inverted} title="Icicle: the root on top"
				onClick={() => change({ inverted: !v.inverted })}>icicle</button>
		</div>
		<div class="exports">
			<a href={`/flamegraph.svg?${queryOf(v)}`} title="The picture as a file" target="_blank" rel="noopener">SVG</a>
			<a href={`/api/v1/profile?${queryOf(v, { format: 'folded' })}`} title="Folded stacks, one per line" target="_blank" rel="noopener">folded</a>
			<a href={`/api/v1/profile?${queryOf(v, { format: 'strobe' })}`} title="The profile, for strobe's own commands">.strobe</a>
			<CopyLink />
		</div>
	</div>;
}

// Where the zoom is: the way down from the root, each step a way back.
function Crumbs() {
	const d = flame.value, box = zoomed.value;
	if (!d)
		return <nav class="crumbs" aria-label="Zoom" />;
	const line = d.line(box), shown = line.slice(-4);
	return <nav class="crumbs" aria-label="Zoom">
		<button type="button" disabled={!box} onClick={() => setZoom([])}>all</button>
		{line.length > shown.length && <span>… {line.length - shown.length}</span>}
		{shown.map((b) => <button key={b} type="button" title={d.name(b)} disabled={b === box}
			aria-current={b === box ? 'location' : undefined} onClick={() => zoomTo(b)}>{d.name(b)}</button>)}
		{box > 0 && <button type="button" class="reset" onClick={() => setZoom([])}>reset zoom</button>}
	</nav>;
}

// --- What the pointer, or the keyboard, is on ---

function describe(box: number): { name: string; place: string; facts: [string, string][] } {
	const d = flame.value!, { about } = d, unit = about.columns[about.column]?.unit || 'count';
	const total = d.width[box], self = d.self(box), z = zoomed.value;
	const facts: [string, string][] = [
		['total', `${format.value(total, unit)} · ${format.share(total, d.total)}`],
		[about.reverse ? 'end' : 'self', `${format.value(self, unit)} · ${format.share(self, d.total)}`],
	];
	if (z > 0)
		facts.push(['of zoomed', format.share(Math.min(total, d.width[z]), d.width[z])]);
	if (unit === 'count' && about.period_ns > 0 && about.columns[about.column].name === 'samples')
		facts.push(['about', format.value(total * about.period_ns, 'nanoseconds')]);
	return { name: d.name(box), place: d.place(d.frame[box]), facts };
}

function Tooltip({ tip }: { tip: Tip }) {
	const box = useRef<HTMLDivElement>(null);
	const { name, place, facts } = describe(tip.box);

	useEffect(() => {
		const e = box.current!;
		const x = Math.min(tip.x + 14, innerWidth - e.offsetWidth - 8);
		const y = tip.y + 18 + e.offsetHeight > innerHeight ? tip.y - e.offsetHeight - 10 : tip.y + 18;
		e.style.transform = `translate(${Math.max(8, x)}px, ${Math.max(8, y)}px)`;
	});
	return <div class="tip" ref={box} role="tooltip">
		<b>{name}</b>
		{place && <span class="place">{place}</span>}
		<dl>{facts.map(([k, v]) => <div key={k}><dt>{k}</dt><dd>{v}</dd></div>)}</dl>
	</div>;
}

function say(box: number): string {
	const { name, place, facts } = describe(box);
	return `${name}${place ? `, ${place}` : ''}, ${facts.map(([k, v]) => `${k} ${v.replace('·', ',')}`).join(', ')}`;
}

// --- All of it ---

export function Graph() {
	const host = useRef<HTMLDivElement>(null), canvas = useRef<FlameView | null>(null);
	const [tip, setTip] = useState<Tip | null>(null), [spoken, setSpoken] = useState('');

	useEffect(() => {
		const c = canvas.current = new FlameView(host.current!, {
			zoom: (box) => { setTip(null); zoomTo(box); },
			hover: (box, x, y) => setTip(box >= 0 ? { box, x, y } : null),
			focus: (box) => { focused.value = box; setSpoken(say(box)); },
			search: () => document.getElementById('search')?.focus(),
			next: (step) => goToHit(step, c),
		});
		const undo = [
			effect(() => {
				const d = flame.value;
				setTip(null);
				focused.value = -1;
				if (d)
					c.setData(d, d.find(zoom.peek()));
			}),
			effect(() => c.setInverted(view.value.inverted)),
			effect(() => c.setZoom(zoomed.value)),
			effect(() => { void flame.value; c.setMatch(found.value ? found.value.match : null); }),
			effect(() => c.setFocus(focused.value)),
		];
		return () => {
			undo.forEach((f) => f());
			c.destroy();
		};
	}, []);
	useSignalEffect(() => { void search.value; hitAt = -1; });

	const d = flame.value, left = d?.leftOut || 0;
	return <section class="graph" aria-label="Flame graph" aria-busy={loading.value}>
		<Toolbar canvas={canvas} />
		<Crumbs />
		<div class="flame" ref={host} tabIndex={0} role="application" aria-roledescription="flame graph"
			aria-label={d ? `Flame graph, ${format.count(d.count - 1)} boxes. Arrow keys walk, Enter zooms, Escape resets; the table of functions has the same content.` : 'Flame graph'} />
		{left > 0 && <p class="note">{format.count(left)} boxes are too narrow to be sent; zoom by label or range to see them.</p>}
		<p class="sr" role="status">{spoken}</p>
		{tip && d && tip.box < d.count && <Tooltip tip={tip} />}
	</section>;
}
