// The strip with samples over time; dragging over it chooses a range.

import { useSignalEffect } from '@preact/signals';
import { useEffect, useRef, useState } from 'preact/hooks';
import type { Chart } from './chart';
import * as format from './format';
import { timeline } from './load';
import { change } from './state';

const iso = (unix: number) => new Date(unix * 1000).toISOString().replace(/\.\d+Z$/, 'Z');

export function TimelineStrip() {
	const box = useRef<HTMLDivElement>(null), chart = useRef<Chart | null>(null), wanted = useRef(true);
	const [hover, setHover] = useState('');
	const t = timeline.value, sum = t ? t.samples.reduce((a, b) => a + b, 0) : 0;

	useSignalEffect(() => {
		const now = timeline.value;
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

	const all = t ? `${format.count(sum)} samples, ${format.range(t.from, t.to)}` : 'Samples over time';
	return <section class="timeline" aria-label="Samples over time">
		<div class="caption"><span>{hover || all}</span><span class="hint">drag to choose a range</span></div>
		<div class="plot" ref={box} role="img" aria-label={`Samples over time: ${all}`} />
	</section>;
}
