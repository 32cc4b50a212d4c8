// Samples over time, drawn by uPlot. Loaded only when there is something to draw.

import uPlot from 'uplot';
import 'uplot/dist/uPlot.min.css';
import type { Timeline } from './api';
import * as format from './format';

const HEIGHT = 92;

export interface Chart {
	set(t: Timeline): void;
	destroy(): void;
}

function css(name: string): string {
	return getComputedStyle(document.documentElement).getPropertyValue(name).trim();
}

function data(t: Timeline): uPlot.AlignedData {
	return [t.samples.map((_, i) => t.from + i * t.step), t.samples];
}

// What tells one tick from the next: the time, or the day at midnight.
function tick(unix: number, step: number): string {
	const d = new Date(unix * 1000), midnight = d.getHours() === 0 && d.getMinutes() === 0;
	if (step >= 86400 || midnight)
		return d.toLocaleDateString('en-GB', { day: 'numeric', month: 'short' });
	return format.time(unix, false).slice(0, step < 60 ? 8 : 5);
}

function options(width: number, t: () => Timeline, brush: (from: number, to: number) => void, hover: (text: string) => void): uPlot.Options {
	const axis: uPlot.Axis = {
		stroke: () => css('--muted'), font: '11px system-ui, sans-serif', grid: { stroke: () => css('--line'), width: 1 },
		ticks: { show: false },
	};
	return {
		width, height: HEIGHT, padding: [6, 18, 0, 0], legend: { show: false },
		cursor: { y: false, points: { show: false }, drag: { x: true, y: false, setScale: false } },
		scales: { y: { range: (_u, _min, max) => [0, max > 0 ? max * 1.05 : 1] }, x: { range: () => [t().from, Math.max(t().to, t().from + t().step)] } },
		axes: [
			{ ...axis, size: 24, space: 90, grid: { show: false }, values: (_u, splits, _i, _space, step) => splits.map((v) => tick(v, step)) },
			{ ...axis, size: 46, space: 26, values: (_u, splits) => splits.map((v) => Number.isInteger(v) ? format.count(v) : '') },
		],
		series: [{}, {
			width: 0, points: { show: false },
			fill: () => css('--accent-fill'), paths: uPlot.paths.bars!({ size: [1, 64], align: 1, gap: 0 }),
		}],
		hooks: {
			setCursor: [(u) => {
				const i = u.cursor.idx, now = t();
				hover(i === null || i === undefined || (u.cursor.left ?? -1) < 0 ? ''
					: `${format.count(now.samples[i])} samples in ${now.step} s from ${format.time(now.from + i * now.step, false)}`);
			}],
			setSelect: [(u) => {
				if (u.select.width < 4)
					return;
				const step = t().step, from = u.posToVal(u.select.left, 'x'), to = u.posToVal(u.select.left + u.select.width, 'x');
				u.setSelect({ left: 0, top: 0, width: 0, height: 0 }, false);
				brush(Math.floor(from / step) * step, Math.ceil(to / step) * step);
			}],
		},
	};
}

export function makeChart(box: HTMLElement, first: Timeline, brush: (from: number, to: number) => void, hover: (text: string) => void): Chart {
	let now = first;
	const plot = new uPlot(options(box.clientWidth, () => now, brush, hover), data(first), box);
	const watcher = new ResizeObserver(() => plot.setSize({ width: box.clientWidth, height: HEIGHT }));
	const scheme = matchMedia('(prefers-color-scheme: dark)'), redraw = () => plot.redraw();

	watcher.observe(box);
	scheme.addEventListener('change', redraw);
	return {
		set(t) {
			now = t;
			plot.setData(data(t));
		},
		destroy() {
			watcher.disconnect();
			scheme.removeEventListener('change', redraw);
			plot.destroy();
		},
	};
}
