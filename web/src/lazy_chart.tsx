// The view of flame charts, a file of its own on the server, as few look at one.

import { signal } from '@preact/signals';
import { useEffect } from 'preact/hooks';

const TimeChart = signal<typeof import('./timechart').TimeChart | null>(null);

export function LazyChart() {
	const Chart = TimeChart.value;
	useEffect(() => void import('./timechart').then((m) => TimeChart.value = m.TimeChart), []);
	return Chart ? <Chart /> : <section class="time-chart" aria-label="Flame chart" aria-busy />;
}
