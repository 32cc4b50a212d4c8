// The page: bar, timeline, graph and table; or the reason why there is nothing to show.

import { useComputed } from '@preact/signals';
import { Bar } from './bar';
import { Graph } from './graph';
import { failed, flame, loading, refresh } from './load';
import { change, pane, setPane, view, type Pane } from './state';
import { Table } from './table';
import { TimelineStrip } from './timeline';

const PANES: [Pane, string][] = [['both', 'both'], ['graph', 'graph'], ['table', 'table']];

function HowToStart() {
	return <>
		<p>Profile one script, with no set-up:</p>
		<pre>strobe run -- php script.php</pre>
		<p>Or always, with these lines in php.ini, and PHP restarted:</p>
		<pre>{'extension=strobe.so\nstrobe.mode=sample'}</pre>
	</>;
}

function Empty() {
	const { looked, empty } = flame.value!.about, nothing = looked.store_to === 0;
	const iso = (s: number) => new Date(s * 1000).toISOString();
	return <section class="empty" role="status">
		<h2>{nothing ? 'Waiting for the first sample' : 'Nothing to show'}</h2>
		<p class="why">{empty}</p>
		{nothing ? <HowToStart /> : <p class="ways">
			{view.value.filters.length > 0 && <button type="button" onClick={() => change({ filters: [] })}>Remove the filters</button>}
			<button type="button" onClick={() => change({ from: iso(looked.store_from), to: iso(looked.store_to + 10), filters: [] })}>Show all that is stored</button>
		</p>}
	</section>;
}

function Failed() {
	return <section class="empty" role="alert">
		<h2>This cannot be shown</h2>
		<p class="why">{failed.value}</p>
		<p class="ways"><button type="button" onClick={refresh}>Try again</button></p>
	</section>;
}

function Panes() {
	return <div class="segments panes" role="group" aria-label="What to show">
		{PANES.map(([p, words]) => <button key={p} type="button" aria-pressed={pane.value === p} onClick={() => setPane(p)}>{words}</button>)}
	</div>;
}

export function App() {
	const empty = useComputed(() => flame.value !== null && flame.value.total === 0);
	const bad = failed.value !== '', show = !bad && !empty.value;

	document.title = [view.value.filters.map(([, v]) => v).join(', '), 'Strobe'].filter(Boolean).join(' – ');
	return <>
		<Bar />
		<main class={`page ${pane.value}`} data-ready={!loading.value}>
			<TimelineStrip />
			{!bad && flame.value?.about.warning && <p class="warning" role="status">{flame.value.about.warning}</p>}
			{bad && <Failed />}
			{!bad && empty.value && <Empty />}
			{show && <div class="work">
				<Panes />
				{pane.value !== 'graph' && <Table />}
				{pane.value !== 'table' && <Graph />}
			</div>}
		</main>
	</>;
}
