// The bar at the top: the selected data, and the state of the daemon.

import { signal } from '@preact/signals';
import { useRef, useState } from 'preact/hooks';
import * as format from './format';
import { KeysButton } from './keys';
import { flame, labels, loading, refresh, status } from './load';
import { Picker } from './picker';
import { usePopup } from './popup';
import { address, change, filtersOf, isLabelFilter, kind, labelOf, live, queryOf, setFilters, setLive, view } from './state';
import { showAccount } from './account';
import { Zone } from './zone';

const RANGES = [
	['-5m', '5m', 'last 5 minutes'], ['-15m', '15m', 'last 15 minutes'], ['-1h', '1h', 'last hour'],
	['-6h', '6h', 'last 6 hours'], ['-24h', '24h', 'last 24 hours'], ['-7d', '7d', 'last 7 days'],
];
const ALWAYS = ['entry', 'host', 'sapi'], SHOWN = 8;
const WORDS: Record<string, string> = { entry: 'all entry points', host: 'all hosts', sapi: 'all SAPIs' };

const added = signal<string[]>([]);	// labels that the user wants to filter by

// Labels worth filtering by: the three usual ones, those with a filter, and some with more than one value.
function shownLabels(): string[] {
	const wanted = [...ALWAYS, ...view.value.filters.filter(isLabelFilter).map(([key]) => labelOf(key)), ...added.value];
	const several = labels.value.filter((l) => l.values.length > 1).map((l) => l.key);
	return [...new Set([...new Set([...wanted, ...several])].slice(0, SHOWN).concat(wanted))];
}

// All other labels, one click away.
function MoreLabels({ shown }: { shown: string[] }) {
	const others = labels.value.map((l) => l.key).filter((key) => !shown.includes(key));
	return others.length ? <select class="more-labels" aria-label="Filter by another label" value=""
		onChange={(e) => added.value = [...added.value, e.currentTarget.value]}>
		<option value="">+ label</option>
		{others.map((key) => <option key={key} value={key}>{key}</option>)}
	</select> : null;
}

function Pickers() {
	const shown = shownLabels();
	return <div class="pickers">
		{shown.map((key) => <Picker key={key} label={key} all={WORDS[key] || 'all'} chosen={filtersOf(key)} opened={added.value.includes(key)}
			values={labels.value.find((l) => l.key === key)?.values || []} choose={(filters) => setFilters(key, filters)} />)}
		<MoreLabels shown={shown} />
	</div>;
}

function Ranges() {
	const v = view.value, [custom, setCustom] = useState(false), root = useRef<HTMLDivElement>(null);
	const preset = v.to === 'now' ? v.from : '';
	const known = RANGES.some(([from]) => from === preset);
	const about = flame.value?.about;
	usePopup(root, custom, () => setCustom(false));
	const submit = (e: SubmitEvent) => {
		const f = new FormData(e.currentTarget as HTMLFormElement);
		e.preventDefault();
		setCustom(false);
		change({ from: format.toServer(String(f.get('from') || '-1h')), to: format.toServer(String(f.get('to') || 'now')) });
	};

	return <div class="ranges" ref={root}>
		<div class="segments" role="group" aria-label="Time range">
			{RANGES.map(([from, short, long]) => <button key={from} type="button" title={long}
				aria-pressed={preset === from} onClick={() => change({ from, to: 'now' })}>{short}</button>)}
			<button type="button" class="custom" aria-pressed={!known} aria-expanded={custom} title="Choose a time range"
				onClick={() => setCustom(!custom)}>
				{known || !about ? 'custom' : format.range(about.from, about.to)}
			</button>
		</div>
		{custom && <form class="popup times" onSubmit={submit}>
			<label>From <input name="from" key={format.zone()} defaultValue={format.fromServer(v.from)} spellcheck={false} autocomplete="off" /></label>
			<label>To <input name="to" key={format.zone()} defaultValue={format.fromServer(v.to)} spellcheck={false} autocomplete="off" /></label>
			<p>Such as -90m, 2026-11-21T07:30 ({format.zone()}) or now.</p>
			<button class="primary">Show</button>
		</form>}
	</div>;
}

function Health() {
	const s = status.value;
	if (!s)
		return <span class="health" title="The daemon's state is unknown"><i class="dot" />…</span>;
	const last = s.samples?.last || s.store?.newest;
	const lost = (s.samples?.dropped.queue_full || 0) +
		Object.values(s.samples?.dropped_by_senders || {}).reduce((a, b) => a + b, 0);
	const words = !s.ready ? 'not ready' : last ? `last sample ${format.ago(s.now - last)}` : 'no sample yet';
	const title = s.not_ready || `${format.count(s.store?.samples_stored ?? s.samples?.stored ?? 0)} samples stored since the start, ${format.count(lost)} lost`;
	return <a class="health" href="/api/v1/status" title={title}>
		<i class={`dot ${!s.ready ? 'bad' : last && s.now - last < 60 ? 'good' : ''}`} /><span class="words">{words}</span>
		{lost > 0 && <span class="lost">{format.count(lost)} lost</span>}
	</a>;
}

function Refresh() {
	return <div class="refresh">
		<button type="button" class="icon" title="Refresh" aria-label="Refresh" aria-busy={loading.value} onClick={refresh}>
			<svg viewBox="0 0 16 16" aria-hidden="true"><path d="M13 8a5 5 0 1 1-1.5-3.6M13 2v3h-3" /></svg>
		</button>
		<button type="button" class="live" aria-pressed={live.value} title="Refresh every 10 s"
			onClick={() => setLive(!live.value)}>live</button>
	</div>;
}

export function Bar() {
	const isRange = kind.value === 'range';
	return <header class="bar">
		<a class="brand" href="/">Strobe</a>
		<a href="/runs" title="Single profiles: traced requests and imported profiles">Runs</a>
		<a href={'/filters' + (isRange ? address().replace(/^[^?#]*/, '').replace(/#.*/, '') : `?${queryOf(view.value)}`)}
			title="Save this view under a name, or open a saved one">Filters</a>
		{isRange ? <div class="strip"><Pickers /><Ranges /></div> : <span class="space" />}
		<div class="ends">
			{isRange && <Refresh />}
			{isRange && <Health />}
			<Zone />
			<KeysButton />
			<span ref={showAccount} />
		</div>
	</header>;
}
