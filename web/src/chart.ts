// Samples over time, drawn by uPlot. Loaded only when there is something to draw.

import uPlot from 'uplot';
import type { Timeline } from './api';
import { onPrint } from './flame/print';
import * as format from './format';
import { colorOf, partsOf } from './series';

const HEIGHT = 92;
const PAPER = 680;		// px: width on a sheet of paper
const LABEL = 58;			// px of the widest time, HH:MM:SS, plus the distance to the next one
const MINUTE = 60, HOUR = 60 * MINUTE, DAY = 24 * HOUR;

// Seconds between ticks. uPlot's own list has nothing between one and five minutes, so that a short range on a phone
// has only one tick.
const STEPS = [
	1, 2, 5, 10, 15, 30, ...[1, 2, 5, 10, 15, 30].map((n) => n * MINUTE), ...[1, 2, 3, 4, 6, 8, 12].map((n) => n * HOUR),
	...[1, 2, 3, 5, 7, 14, 30, 60, 90, 180, 365].map((n) => n * DAY),
];

// uPlot only supports the mouse. Fingers drag sideways, and scroll the page up and down.
function takeTouch(u: uPlot): void {
	let start = NaN;
	const at = (e: PointerEvent) => Math.min(u.over.clientWidth, Math.max(0, e.clientX - u.over.getBoundingClientRect().left));
	const select = (to: number, isDone: boolean) => u.setSelect({ left: Math.min(start, to), width: Math.abs(to - start), top: 0, height: u.over.clientHeight }, isDone);
	const listen = (type: 'pointerdown' | 'pointermove' | 'pointerup' | 'pointercancel', does: (e: PointerEvent) => void) =>
		u.over.addEventListener(type, (e) => e.pointerType === 'touch' && e.isPrimary && does(e));

	u.over.style.touchAction = 'pan-y';
	listen('pointerdown', (e) => start = at(e));
	listen('pointermove', (e) => select(at(e), false));
	listen('pointerup', (e) => select(at(e), true));
	listen('pointercancel', () => select(start, false));
}

export interface Chart {
	set(t: Timeline): void;
	destroy(): void;
}

function css(name: string): string {
	return getComputedStyle(document.documentElement).getPropertyValue(name).trim();
}

// Each part is drawn from zero to the sum of itself and those below it, in front of those above it.
function data(t: Timeline): uPlot.AlignedData {
	const sum = t.samples.map(() => 0), heights = partsOf(t).map((p) => p.samples.map((n, i) => sum[i] += n));
	return [t.samples.map((_, i) => t.from + i * t.step), ...heights.reverse()];
}

function words(t: Timeline, i: number): string {
	const parts = t.values ? partsOf(t).filter((p) => p.samples[i] > 0).map((p) => `${p.name} ${format.count(p.samples[i])}`) : [];
	return `${format.count(t.samples[i])} samples in ${t.step} s from ${format.time(t.from + i * t.step, false)}${parts.length ? `: ${parts.join(', ')}` : ''}`;
}

// The text that distinguishes neighboring ticks: the time, or the day at midnight.
function tick(unix: number, step: number): string {
	const [, clock] = format.moment(unix);
	if (step >= 86400 || clock.startsWith('00:00'))
		return new Date(unix * 1000).toLocaleDateString('en-GB', { timeZone: format.zone(), day: 'numeric', month: 'short' });
	return clock.slice(0, step < 60 ? 8 : 5);
}

function options(width: number, t: () => Timeline, brush: (from: number, to: number) => void, hover: (text: string) => void): uPlot.Options {
	const axis: uPlot.Axis = {
		stroke: () => css('--muted'), font: '11px system-ui, sans-serif', grid: { stroke: () => css('--line'), width: 1 },
		ticks: { show: false },
	};
	return {
		tzDate: (unix) => uPlot.tzDate(new Date(unix * 1000), format.zone()),
		width, height: HEIGHT, padding: [6, 28, 0, 0], legend: { show: false },
		cursor: { y: false, points: { show: false }, drag: { x: true, y: false, setScale: false } },
		scales: { y: { range: (_u, _min, max) => [0, max > 0 ? max * 1.05 : 1] }, x: { range: () => [t().from, Math.max(t().to, t().from + t().step)] } },
		axes: [
			{ ...axis, size: 24, grid: { show: false }, incrs: STEPS, space: (_u, _axis, _min, _max, width) => Math.min(90, Math.max(LABEL, width / 6)), values: (_u, splits, _i, _space, step) => splits.map((v) => tick(v, step)) },
			{ ...axis, size: (_u, words) => Math.max(46, 14 + 6.5 * Math.max(...(words || []).map((w) => w.length))), space: 26, values: (_u, splits) => splits.map((v) => Number.isInteger(v) ? format.count(v) : '') },
		],
		series: [{}, ...partsOf(t()).map((_, i) => ({
			width: 0, points: { show: false },
			fill: () => css(colorOf(t(), i)), paths: uPlot.paths.bars!({ size: [1, Infinity], align: 1, gap: 0 }),
		})).reverse()],
		hooks: {
			ready: [takeTouch],
			setCursor: [(u) => {
				const i = u.cursor.idx, now = t();
				hover(i === null || i === undefined || (u.cursor.left ?? -1) < 0 ? ''
					: words(now, i));
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
	const make = () => new uPlot(options(box.clientWidth, () => now, brush, hover), data(now), box);
	let plot = make();
	const watcher = new ResizeObserver(() => plot.setSize({ width: box.clientWidth, height: HEIGHT }));
	const scheme = matchMedia('(prefers-color-scheme: dark)'), redraw = () => plot.redraw();

	const unwatch = onPrint((on) => {
		plot.setSize({ width: on ? PAPER : box.clientWidth, height: HEIGHT });
		redraw();
	});

	watcher.observe(box);
	scheme.addEventListener('change', redraw);
	return {
		set(t) {
			const was = [partsOf(now).length, !now.values].join();
			now = t;
			if (was === [partsOf(t).length, !t.values].join()) {
				plot.setData(data(t));
				return;
			}
			plot.destroy();
			plot = make();
		},
		destroy() {
			watcher.disconnect();
			unwatch();
			scheme.removeEventListener('change', redraw);
			plot.destroy();
		},
	};
}
