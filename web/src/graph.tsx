// The flame graph with its controls: search, direction, path of the zoom.

import { useState } from 'preact/hooks';
import { flameQuery } from './api';
import { Canvas } from './canvas';
import { nextMatch, zoomShowing, type FlameData } from './flame/data';
import { isGray } from './flame/gray';
import { PRINTED } from './flame/view';
import * as format from './format';
import { matchedWords } from './file/matched';
import { focused, found, matchedNames, pattern, tooSlow, zoomed } from './found';
import { flame, loading, showAllBoxes } from './load';
import { openAt } from './places';
import { SearchField } from './search';
import { address, change, isStackFilter, kind, onPaper, queryOf, reverse, setZoom, view } from './state';

function zoomTo(box: number): void {
	const d = flame.value, to = d && isGray(d, box) ? d.parent(box) : box;
	if (d && to !== box && to === zoomed.value)
		showAllBoxes();
	else if (d && box !== zoomed.value)
		setZoom(d.path(to));
	else if (d && box > 0)
		openAt(d.name(box), d.place(d.frame[box]));
}

// --- Search ---

const many = (n: number, thing: string) => `${format.count(n)} ${thing}${n === 1 ? '' : 's'}`;

function goToHit(step: number): void {
	const d = flame.value, f = found.value, z = zoomed.value, box = f ? nextMatch(d!, f, focused.value < 0 ? z : focused.value, step) : -1;
	if (box < 0)
		return;
	const to = zoomShowing(d!, box, z);
	if (to !== z)
		setZoom(d!.path(to));
	focused.value = box;
}

function Search() {
	const f = found.value, d = flame.value, all = d ? d.width[zoomed.value] : 0, column = d?.about.columns[d.about.column], places = f?.hits.length;
	const words = IN_FILE && !tooSlow.value && places && matchedNames.value ? matchedWords(d!, f, zoomed.value, matchedNames.value) : tooSlow.value ? 'takes too long' : d?.joined && pattern.value ? 'searching…' : !f || !d ? '' : places ? `${format.share(f.sum, all)} matched` : 'no match';
	const title = f && column ? `${format.value(f.sum, column.unit)} ${format.isCount(column.unit) ? format.columnName(column.name) : ''} of ${many(f.frames, 'function')} in ${many(places!, 'place')}` : '';
	return <SearchField id="search" words={words} title={title} plain={!!(pattern.value?.plain || tooSlow.value)} any={!!f?.frames} go={goToHit} />;
}

// --- Toolbar ---

// A link that shows the same data tomorrow: for a range its times, which "the last hour" does not keep.
function lasting(): string {
	if (IN_FILE)
		return location.href.replace(/#.*/, '') + address();
	const about = flame.value?.about, iso = (s: number) => new Date(s * 1000).toISOString();
	return location.origin + (about && kind.value === 'range' ? address({ ...view.value, from: iso(about.from), to: iso(about.to) }) : address());
}

function CopyLink() {
	const [done, setDone] = useState(false);
	const copy = async () => {
		const to = lasting();
		try {
			await navigator.clipboard.writeText(to);
			setDone(true);
			setTimeout(() => setDone(false), 1500);
		} catch {
			prompt('Link to this view', to);
		}
	};
	return <button type="button" title="Copy a link to this view" onClick={copy}>{done ? 'copied' : 'link'}</button>;
}

function Toolbar() {
	const v = view.value;

	return <div class="tools">
		<Search />
		<div class="segments">
			<button type="button" aria-pressed={v.reverse} title="Merge stacks from the leaf: expensive functions and their callers"
				onClick={reverse}>reversed</button>
			<button type="button" aria-pressed={v.inverted} title="Icicle: the root on top"
				onClick={() => change({ inverted: !v.inverted })}>icicle</button>
		</div>
		<div class="exports">
			{!IN_FILE && <><a href={`/flamegraph.svg?${queryOf(v)}`} title="The picture as a file" target="_blank" rel="noopener">SVG</a>
			<a href={`/api/v1/profile?${queryOf(v, { format: 'folded' })}`} title={`Folded stacks, ${flame.value?.about.compared ? 'with counts before and after' : 'one per line'}`} target="_blank" rel="noopener">folded</a>
			<a href={`/api/v1/profile?${queryOf(v, { format: 'strobe' })}`} title="The profile, for Strobe's commands">.strobe</a></>}
			<CopyLink />
		</div>
	</div>;
}

// The path of the zoom from the root, each step of which is a link.
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
		{box > 0 && <button type="button" class="to-function" title="Its callers and callees (F, or a second click)"
			onClick={() => openAt(d.name(box), d.place(d.frame[box]))}>callers and callees</button>}
		{box > 0 && <button type="button" class="reset" onClick={() => setZoom([])}>reset zoom</button>}
	</nav>;
}

export function PaperNote({ data }: { data: FlameData | null }) {
	return onPaper.value && data && data.depths > PRINTED ? <p class="note">Of {format.count(data.depths)} rows these are the {PRINTED} at the root.</p> : null;
}

export function Notes({ data, merged }: { data: FlameData | null; merged?: boolean }) {
	const left = data?.leftOut || 0, about = data?.about, c = about?.columns[about.column];
	const negative = c && !merged && !about.compared && !about.estimated ? c.total - data!.total : 0;
	return <>
		<PaperNote data={data} />
		{data?.about.estimated && <p class="note">The stacks are an estimate: only pairs of caller and callee were measured. {view.value.filters.some(isStackFilter) ? 'Filtered values are estimates, too.' : 'Tables, callers and callees are exact, but for limits (≤).'}</p>}
		{negative < 0 && <p class="note">Values below zero, such as freed memory, are not drawn: {format.value(negative, c!.unit)} in all. Shares are of what is drawn.</p>}
		{left > 0 && <p class="note">{format.count(left)} {left === 1 ? 'box' : 'boxes'} {merged ? `below 0.01% of the function ${left === 1 ? 'is' : 'are'} left out.` :
			left === 1 ? 'is too narrow to be sent; zoom by label or range to see it.' : 'are too narrow to be sent; zoom by label or range to see them.'}</p>}
	</>;
}

export function Graph() {
	return <section class="graph" aria-label="Flame graph" aria-busy={loading.value}>
		<Toolbar />
		<Crumbs />
		<Canvas label="Flame graph" focused={focused} question={() => flameQuery(view.peek())} data={() => flame.value} zoomed={() => zoomed.value}
			inverted={() => view.value.inverted} match={() => found.value?.match || null} zoom={zoomTo} open={openAt} next={goToHit} />
		<Notes data={flame.value} />
	</section>;
}
