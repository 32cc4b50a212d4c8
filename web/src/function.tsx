// One function: its values, callers and callees with their shares, and the same stacks as two graphs with the
// function between them.

import { computed } from '@preact/signals';
import { useMemo } from 'preact/hooks';
import { functionQuery, type Edge, type FunctionAnswer } from './api';
import { Canvas } from './canvas';
import { calleesOf, callersOf } from './flame/sandwich';
import type { FlameData } from './flame/data';
import * as format from './format';
import { Notes } from './graph';
import { around, flame, functionFailed, loading } from './load';
import { openAt } from './places';
import { Source } from './source';
import { callersZoom, change, functionAddress, openFunction, setCallersZoom, setZoom, view, zoom, type View } from './state';
import { FunctionLink } from './table';
import { walkTable } from './table_keys';

// --- Tables ---

interface Shown {
	title: string;
	unit: string;
	index: number;		// index of the values
	isCalls: boolean;
}

// The chosen metric, or its two sides, and the number of calls.
function shownColumns(f: FunctionAnswer): Shown[] {
	const { columns, column } = f, { name, unit } = columns[column];
	if (f.function.self.length === 2 && columns[column].before !== undefined)
		return ['before', 'after'].map((side, index) => ({ title: side, unit, index, isCalls: name === 'calls' }));
	const calls = columns.findIndex((c) => c.name === 'calls');
	const shown = [{ title: format.columnName(name), unit, index: column, isCalls: name === 'calls' }];
	return calls >= 0 && calls !== column ? [...shown, { title: 'calls', unit: columns[calls].unit, index: calls, isCalls: true }] : shown;
}

// Calls made by a function are shares of all calls that it makes.
function Cells({ f, values, measured, limit, made }: { f: FunctionAnswer; values: number[]; measured?: number; limit: boolean; made?: Edge[] }) {
	return <>{shownColumns(f).map(({ index, unit, isCalls }) => {
		const all = !isCalls ? f.function.total[index] : made ? made.reduce((sum, e) => sum + e.values[index], 0) : f.function.self[index], sign = limit && !isCalls ? '≤' : '';
		const share = index > 0 || measured === undefined ? format.share(values[index], all) : format.share(measured, !isCalls ? f.function.total_measured! :
			made ? made.reduce((sum, e) => sum + e.measured!, 0) : f.function.self_measured!);
		return <td key={index} title={`${share} of ${isCalls && made ? 'its calls' : 'this function'}`}>
			<meter aria-hidden="true" min={0} max={all || 1} value={values[index]} />
			<span class="amount">{sign}{format.value(values[index], unit)}</span> <span>{sign}{share}</span>
		</td>;
	})}</>;
}

function EdgeName({ edge }: { edge: Edge }) {
	const place = edge.file && edge.line ? `${edge.file}:${edge.line}` : edge.file;
	if (edge.name === null)
		return <th scope="row" class="quiet">none: it is the root</th>;
	return <th scope="row" title={place ? `${edge.name}\n${place}` : edge.name}>
		<div class="name-cell"><FunctionLink name={edge.name} place={place} />{edge.itself && <small>recursion</small>}</div>
	</th>;
}

function Edges({ f, edges, what }: { f: FunctionAnswer; edges: Edge[]; what: 'caller' | 'callee' }) {
	const isCalls = shownColumns(f)[0].isCalls, { self } = f.function, itself = f.columns[f.column].before === undefined ? self.map((v, i) => f.columns[i].name === 'calls' ? 0 : v) : self;
	return <section class="edges" aria-label={what === 'caller' ? 'Callers' : 'Callees'}>
		<h3>{what === 'caller' ? 'Callers' : 'Callees'} <small>{format.count(edges.length)}</small></h3>
		<div class="rows" tabIndex={0} role="region" aria-label={`Table of ${what}s: arrow keys walk its rows`} onKeyDown={walkTable}>
			<table class="wide">
				<colgroup>{shownColumns(f).map((c) => <col key={c.index} class="c-wide" />)}<col /></colgroup>
				<thead><tr>{shownColumns(f).map((c) => <th key={c.index} scope="col">{c.title}</th>)}<th scope="col" class="name">{what}</th></tr></thead>
				<tbody>
					{edges.map((e) => <tr key={`${e.name}@${e.file}:${e.line}`}><Cells f={f} values={e.values} measured={e.measured} limit={e.at_most} made={what === 'callee' ? edges : undefined} /><EdgeName edge={e} /></tr>)}
					{what === 'callee' && !isCalls && <tr class="itself"><Cells f={f} values={itself} measured={f.function.self_measured} limit={false} made={edges} /><th scope="row" class="quiet">itself</th></tr>}
				</tbody>
			</table>
		</div>
	</section>;
}

function Summary({ f }: { f: FunctionAnswer }) {
	const { self, total, at_most } = f.function, compared = f.columns[f.column].before !== undefined;
	const columns = compared ? [] : f.columns, unit = f.columns[f.column].unit;
	const facts: [string, string][] = columns.map((c, i) => c.name === 'calls' ? ['called', format.value(self[i], c.unit)] :
		[format.columnName(c.name), `${format.value(self[i], c.unit)} self (${format.share(self[i], c.whole ?? c.total)}), ${at_most ? '≤' : ''}${format.value(total[i], c.unit)} total (${at_most ? '≤' : ''}${format.share(total[i], c.whole ?? c.total)})`]);
	if (compared)
		for (const [title, [before, after]] of (f.columns[f.column].name === 'calls' ? [['called', self]] : [['self', self], ['total', total]]) as [string, number[]][])
			facts.push([title, `${format.value(before, unit)} → ${format.value(after, unit)}, ${format.change(after - before, unit)}`]);
	return <dl class="facts">{facts.map(([k, v]) => <div key={k}><dt>{k}</dt><dd>{v}</dd></div>)}</dl>;
}

// --- Graphs ---

// By frame: has that name.
function matching(d: FlameData, { function: name, functionFile: file }: View): Uint8Array {
	return Uint8Array.from(d.frameName, (n, f) => d.names[n] === name && f !== d.frame[0] && (!file || d.files[d.frameFile[f]] === file) ? 1 : 0);
}

const upper = computed(() => flame.value && view.value.function && !flame.value.about.reverse && !flame.value.joined ?
	callersOf(flame.value, matching(flame.value, view.value)) : null);
const lower = computed(() => flame.value && view.value.function && !flame.value.about.reverse && !flame.value.joined ?
	calleesOf(flame.value, matching(flame.value, view.value)) : null);
const upperZoomed = computed(() => upper.value ? upper.value.find(callersZoom.value) : 0);
const lowerZoomed = computed(() => lower.value ? lower.value.find(zoom.value) : 0);

// A click zooms; on a box that is already zoomed, it opens its function.
function zoomIn(d: FlameData, box: number, zoomedBox: number, set: (path: string[]) => void): void {
	if (box !== zoomedBox)
		set(d.path(box));
	else if (box > 0)
		openAt(d.name(box), d.place(d.frame[box]));
}

const graphs = () => [upper.value!, lower.value!];
const question = () => functionQuery(view.peek());

function Sandwich() {
	return <div class="sandwich" aria-busy={loading.value}>
		<section class="graph" aria-label="Callers as a graph">
			<Canvas label="Callers" question={question} graphs={graphs} data={() => upper.value} zoomed={() => upperZoomed.value} inverted={() => false}
				zoom={(box) => zoomIn(upper.value!, box, upperZoomed.value, setCallersZoom)} open={openAt} />
		</section>
		<section class="graph" aria-label="Callees as a graph">
			<Canvas label="Callees" question={question} graphs={graphs} data={() => lower.value} zoomed={() => lowerZoomed.value} inverted={() => true}
				zoom={(box) => zoomIn(lower.value!, box, lowerZoomed.value, setZoom)} open={openAt} />
		</section>
		<Notes data={lower.value} merged />
	</div>;
}

function FileLink({ name, file }: { name: string; file: string }) {
	return <a href={functionAddress(name, file)} aria-current={file === view.value.functionFile ? 'true' : undefined} onClick={(e) => {
		if (e.ctrlKey || e.metaKey || e.shiftKey)
			return;
		e.preventDefault();
		openFunction(name, file);
	}}>{file || 'all of them'}</a>;
}

// Functions of the same name in different files: tells which one is shown, or that all are.
function Files({ name, files }: { name: string; files: string[] }) {
	return files.length < 2 ? null : <p class="note">{files.length} functions of different files have this name; the values cover {view.value.functionFile ? 'one' : 'all'} of them. Show: {
		['', ...files.filter((file) => file)].map((file, i) => <>{i ? ', ' : ''}<FileLink name={name} file={file} /></>)}</p>;
}

export function FunctionPage() {
	const f = around.value, { function: name, by, functionFile } = view.value, place = f && (f.function.line ? `${f.function.file}:${f.function.line}` : f.function.file);
	const more = useMemo(() => f && f.function.places > 1 ? ` and ${f.function.places - 1} more` : '', [f]);
	return <div class="function">
		<header class="function-head">
			<button type="button" onClick={() => openFunction('')}>‹ all functions</button>
			<h2>{name}</h2>
			{place && <small>{place}{more}</small>}
			{f && <Files name={name} files={f.function.files} />}
			{f && <Summary f={f} />}
		</header>
		{functionFailed.value && <p class="none" role="alert">{format.sentence(functionFailed.value)}{(by || functionFile) && <> <button type="button" onClick={() => change({ by: '', functionFile: '' })}>search all functions</button></>}</p>}
		<div class="around">
			<div class="both-edges">{f && <><Edges f={f} edges={f.callers} what="caller" /><Edges f={f} edges={f.callees} what="callee" /></>}</div>
			<Sandwich />
		</div>
		{!IN_FILE && !functionFailed.value && <Source />}
	</div>;
}
