// The page: bar, timeline or facts, graph and table; or the reason why there is no data.

import { useComputed } from '@preact/signals';
import { Bar } from './bar';
import { LazyCallGraph, LazyChart, LazyDifference, LazyFunctionPage, LazyHowToStart } from './lazy_views';
import { Compare, Scale } from './compare';
import { FileFacts } from './file/bar';
import { filterWarning } from './file/filters';
import { facts } from './file/start';
import { ColorChoice } from './file/tools';
import { Facts, runName, sides } from './facts';
import { FindFunction } from './find';
import * as format from './format';
import { Graph } from './graph';
import { Keys } from './keys';
import { failed, flame, loading, refresh, table, waiting } from './load';
import { Split, splitStyle } from './split';
import { StackFilters } from './stacks';
import { change, isLabelFilter, isStackFilter, kind, pane, setPane, view, type Pane } from './state';
import { Table } from './table';
import { TimelineStrip } from './timeline';

const PANES: [Pane, string][] = [['both', 'both'], ['graph', 'flame graph'], ['table', 'table'], ['calls', 'call graph'], ['time', 'flame chart']];
const GROUPS = ['', 'own', 'class', 'namespace', 'file', 'package', ...IN_FILE ? [] : ['line']];
const GROUP_WORDS: Record<string, string> = { '': 'function', own: 'only my code' };

// Stack filters come first, since labels may be the point of the page.
function RemoveFilters() {
	const { filters } = view.value, others = filters.filter((f) => !isStackFilter(f)), has = others.length < filters.length;
	return filters.length > 0 && <button type="button" onClick={() => change({ filters: has ? others : [] })}>Remove the filters{has && ' of stacks'}</button>;
}

function Empty() {
	const { looked, empty } = flame.value!.about, nothing = looked?.store_to === 0;
	const iso = (s: number) => new Date(s * 1000).toISOString();
	return <section class="empty" role="status">
		<h2>{nothing ? 'Waiting for the first sample' : 'Nothing to show'}</h2>
		<p class="why">{format.sentence(empty || '')}</p>
		{!IN_FILE && nothing ? <LazyHowToStart /> : <p class="ways">
			<RemoveFilters />
			{looked && <button type="button" onClick={() => change({ from: iso(looked.store_from), to: iso(looked.store_to + 10), filters: [] })}>Show all stored data</button>}
		</p>}
	</section>;
}

function Failed() {
	return <section class="empty" role="alert">
		<h2>This cannot be shown</h2>
		<p class="why">{format.sentence(failed.value)}</p>
		<p class="ways"><button type="button" onClick={refresh}>Try again</button>
			<RemoveFilters />
			{!IN_FILE && view.value.subject.some(([key]) => key === 'scale') && <label>scale of what was before <Scale /></label>}
			{kind.value === 'range' && <Compare />}</p>
	</section>;
}

// Only runs traced with that option have a flame chart.
function hasChart(): boolean {
	return !!flame.value?.about.charted_calls;
}

function Panes() {
	return <div class="segments panes" role="group" aria-label="What to show">
		{PANES.filter(([p]) => p !== 'time' || hasChart()).map(([p, words]) => <button key={p} type="button" aria-pressed={pane.value === p} onClick={() => setPane(p)}>{words}</button>)}
	</div>;
}

// The choice of value, grouping and panes.
function Views() {
	const v = view.value, about = flame.value?.about, columns = about?.columns || [], isGraph = v.function || pane.value === 'both' || pane.value === 'graph', isChart = !v.function && pane.value === 'time';
	return <div class="views">
		<div class="strip">
			{columns.length > 1 && !isChart && <label>value <select aria-label="Value" value={columns[about!.column]?.name}
				onChange={(e) => change({ column: e.currentTarget.value })}>
				{columns.map((c) => <option key={c.name} value={c.name}>{format.columnName(c.name)}</option>)}
			</select></label>}
			{!isChart && <label>by <select aria-label="Group by" value={v.by} onChange={(e) => change({ by: e.currentTarget.value, function: '' })}>
				{(IN_FILE && facts().grouped ? [facts().grouped!] : GROUPS).map((g) => <option key={g} value={g}>{GROUP_WORDS[g] || g}</option>)}
			</select></label>}
			<FindFunction />
			{!IN_FILE && kind.value === 'range' && <Compare />}
			{IN_FILE && !facts().compared && <ColorChoice />}
			{about?.compared && isGraph && <LazyDifference />}
			<StackFilters />
		</div>
		{!v.function && !about?.empty && <Panes />}
	</div>;
}

function NoChart() {
	return <section class="time-chart"><p class="none" role="status">{flame.value ? 'There is no flame chart: only a single run traced with strobe.trace_flame_chart has one.' : ''}</p></section>;
}

function Work() {
	if (view.value.function)
		return <LazyFunctionPage />;
	return <div class="work" style={splitStyle()}>
		{(pane.value === 'both' || pane.value === 'table') && <Table />}
		{pane.value === 'both' && <Split />}
		{(pane.value === 'both' || pane.value === 'graph') && <Graph />}
		{pane.value === 'calls' && <LazyCallGraph />}
		{pane.value === 'time' && (hasChart() ? <LazyChart /> : <NoChart />)}
	</div>;
}

// Another value or fewer stack filters may have data where the current ones have none.
function canChoose(): boolean {
	return view.value.filters.some(isStackFilter) || flame.value!.about.columns.length > 1;
}

function title(): string {
	const v = view.value, about = flame.value?.about;
	if (IN_FILE)
		return [v.function, facts().title].filter(Boolean).join(' – ');
	const subject = about?.compared ? sides(about).join(' and ') :
		about?.runs ? about.runs.map(runName).join(', ') : v.filters.filter(isLabelFilter).map(([, x]) => x).join(', ');
	return [v.function, subject, 'Strobe'].filter(Boolean).join(' – ');
}

export function App() {
	const empty = useComputed(() => flame.value !== null && !!flame.value.about.empty);
	const bad = failed.value !== '', show = !bad && !empty.value, warning = flame.value?.about.warning || table.value?.warning || IN_FILE && !loading.value && filterWarning(view.value.filters);

	document.title = title();
	return <>
		<Bar />
		<main class={`page ${view.value.function ? 'one' : pane.value}`} data-ready={!loading.value} aria-busy={waiting.value}>
			{!IN_FILE && kind.value === 'range' && <TimelineStrip />}
			<Facts />
			{IN_FILE && <FileFacts />}
			{!bad && warning && <p class="warning" role="status">{format.sentence(warning)}</p>}
			{bad && <Failed />}
			{!bad && empty.value && <Empty />}
			{(show || !bad && (IN_FILE || canChoose())) && <Views />}
			{show && <Work />}
		</main>
		<Keys />
	</>;
}
