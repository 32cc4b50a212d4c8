// The strip with samples over time; dragging over it selects a range.

import { useSignalEffect } from '@preact/signals';
import { useEffect, useRef, useState } from 'preact/hooks';
import type { Timeline } from './api';
import type { Chart } from './chart';
import * as format from './format';
import { labels, timeline } from './load';
import { colorOf, partsOf } from './series';
import { change, isStackFilter, view } from './state';

const iso = (unix: number) => new Date(unix * 1000).toISOString().replace(/\.\d+Z$/, 'Z');

function SplitBy() {
	const now = view.value.split, keys = labels.value.map((l) => l.key);
	return <select aria-label="Samples by label" value={now} onChange={(e) => change({ split: e.currentTarget.value })}>
		<option value="">all samples</option>
		{(!now || keys.includes(now) ? keys : [now, ...keys]).map((key) => <option key={key} value={key}>by {key}</option>)}
	</select>;
}

// Most samples first, in the order of the bars from the bottom.
function Legend({ t }: { t: Timeline }) {
	const sum = (samples: number[]) => samples.reduce((a, b) => a + b, 0), all = sum(t.samples);
	return <ul class="series" aria-label={`Samples by ${view.value.split}`}>
		{partsOf(t).map((p, i) => <li key={p.name}><i style={{ background: `var(${colorOf(t, i)})` }} />
			<span>{p.name}</span> <span class="num">{format.share(sum(p.samples), all)}</span></li>)}
	</ul>;
}

export function TimelineStrip() {
	const box = useRef<HTMLDivElement>(null), chart = useRef<Chart | null>(null), wanted = useRef(true);
	const [hover, setHover] = useState('');
	const t = timeline.value, sum = t ? t.samples.reduce((a, b) => a + b, 0) : 0;

	useSignalEffect(() => {
		const now = timeline.value;
		void format.isUtc.value;
		if (!now)
			return;
		if (chart.current)
			chart.current.set(now);
		else
			void import('./chart').then(({ makeChart }) => {
				if (wanted.current && box.current && !chart.current)
					chart.current = makeChart(box.current, timeline.peek() || now, (from, to) => change({ from: iso(from), to: iso(to) }), setHover);
			});
	});
	useEffect(() => () => {
		wanted.current = false;
		chart.current?.destroy();
	}, []);

	const whole = view.value.filters.some(isStackFilter) ? ' (keep and remove do not apply)' : '';
	const all = t ? `${format.count(sum)} samples${whole}, ${format.range(t.from, t.to)}` : 'Samples over time';
	return <section class="timeline" aria-label="Samples over time">
		<div class="caption"><span>{hover || all}</span><span class="hint">drag to choose a range</span><SplitBy /></div>
		{t?.values && <Legend t={t} />}
		<div class="plot" ref={box} role="img" aria-label={`Samples over time: ${all}`} />
	</section>;
}
