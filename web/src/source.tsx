// The source of a function: its lines with their values, the hottest marked, each with its own anchor (#L12).

import { useLayoutEffect, useRef } from 'preact/hooks';
import type { SourceAnswer, SourceLine } from './api';
import * as format from './format';
import { source, sourceFailed } from './load';
import { address, change, line, setLine, view } from './state';
import { walkTable } from './table_keys';

function titles(s: SourceAnswer): string[] {
	return s.self.length > 1 ? ['self before', 'self after', 'total before', 'total after'] : ['self', 'total'];
}

// Narrow windows have no row of headings: each value has a label.
function Value({ s, v, i, of }: { s: SourceAnswer; v: number; i: number; of: string }) {
	const all = s.whole[i], says = i ? '→' : of;
	if (!v)
		return <td data-of={says} />;
	return <td data-of={says} title={`${format.share(v, all)} of all`}><meter aria-hidden="true" min={0} max={Math.max(...s.total, 1)} value={v} />
		{format.value(v, s.columns[s.column].unit)}</td>;
}

function Row({ s, l }: { s: SourceAnswer; l: SourceLine }) {
	const took = [...l.self, ...l.total].some((v) => v), at = line.value === l.line;
	return <tr id={`L${l.line}`} class={`${l.hot ? 'hot' : took ? 'took' : ''}${at ? ' at' : ''}`} aria-current={at ? 'location' : undefined}>
		{l.self.map((v, i) => <Value s={s} v={v} i={i} of="self" />)}
		{l.total.map((v, i) => <Value s={s} v={v} i={i} of="total" />)}
		<th scope="row"><a href={`#L${l.line}`} tabIndex={-1} aria-label={`line ${l.line}${l.hot ? ', hot' : ''}`} onClick={(e) => {
			if (e.metaKey || e.ctrlKey || e.shiftKey)
				return;
			e.preventDefault();
			setLine(at ? 0 : l.line);
		}}>{l.line}</a></th>
		<td class="code">{l.text === null ? s.source !== 'missing' && <i>past the end of the file</i> : <code>{l.text}</code>}</td>
	</tr>;
}

function rows(s: SourceAnswer) {
	const all = [], span = titles(s).length + 2;
	let before = s.lines[0]?.line ?? 0;
	for (const l of s.lines) {
		if (l.line > before + 1 && s.source !== 'missing')
			all.push(<tr key={`to ${l.line}`} class="cut"><td colSpan={span}>⋮</td></tr>);
		all.push(<Row key={l.line} s={s} l={l} />);
		before = l.line;
	}
	return all;
}

function FileLink({ file }: { file: string }) {
	const to = { ...view.value, by: 'file', function: file, functionFile: '', lines: '' };
	return <a href={`${address(to).replace(/#.*/, '')}#source`} onClick={(e) => {
		if (e.metaKey || e.ctrlKey || e.shiftKey)
			return;
		e.preventDefault();
		setLine(0);
		change(to);
	}}>{file}</a>;
}

function Head({ s }: { s: SourceAnswer }) {
	const all = view.value.lines === 'all';
	return <header class="source-head">
		<h3>Source</h3>
		{s.file && <small>{view.value.by === 'file' ? s.file : <FileLink file={s.file} />}</small>}
		{s.source !== 'missing' && view.value.by !== 'file' && <button type="button" aria-pressed={all}
			onClick={() => change({ lines: all ? '' : 'all' })}>all lines</button>}
		{s.lines.some((l) => l.hot) && <small class="legend">marked: at least half of the self value of the hottest line</small>}
		{s.why && <p class="warning" role="status">{s.why}</p>}
		{s.other_count > 0 && <p>Functions of the same name in other files: {s.others.map((f, i) => <>{i ? ', ' : ''}<FileLink file={f} /></>)}
			{s.other_count > s.others.length && ` and ${s.other_count - s.others.length} more`}</p>}
	</header>;
}

// Scrolls to the line of the URL, else to the first hot one, else to the beginning of the function.
function scrollTo(pane: HTMLElement | null, start: number): void {
	const row = pane && [`#L${line.value}`, 'tr.hot', 'tr.took', `#L${start}`].map((s) => pane.querySelector<HTMLElement>(s)).find((found) => found);
	if (pane && row)
		pane.scrollTop = Math.max(0, row.offsetTop - pane.clientHeight / 3);
}

export function Source() {
	const s = source.value, pane = useRef<HTMLDivElement>(null);
	useLayoutEffect(() => scrollTo(pane.current, s?.start || 0), [s]);
	if (sourceFailed.value)
		return <section id="source" class="source" aria-label="Source"><p class="none" role="alert">{sourceFailed.value}</p></section>;
	if (!s)
		return null;
	return <section id="source" class={`source${s.lines.length ? '' : ' bare'}`} aria-label="Source">
		<Head s={s} />
		{s.lines.length > 0 && <div ref={pane} class="code-rows" tabIndex={0} role="region" aria-label="Lines of the source: arrow keys walk them" onKeyDown={walkTable}>
			<table class="source">
				<thead><tr>{titles(s).map((t) => <th key={t} scope="col">{t}</th>)}<th scope="col">line</th><th scope="col" class="code">source</th></tr></thead>
				<tbody>{rows(s)}</tbody>
			</table>
		</div>}
	</section>;
}
