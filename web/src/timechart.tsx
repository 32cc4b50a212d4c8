// The flame chart of a run: its calls over time. The visible part is stored in the URL; boxes are loaded window by
// window, as many as there are pixels.

import { effect } from '@preact/signals';
import { useEffect, useRef, useState } from 'preact/hooks';
import { chartQuery, getChart } from './api_views';
import { Tooltip } from './canvas';
import { TimeView } from './flame/time';
import type { ChartCall, ChartSearch, FlameData } from './flame/data';
import * as format from './format';
import { pattern } from './found';
import { PaperNote } from './graph';
import { SearchField } from './search';
import { chartWindow, openFunction, setChartWindow, view } from './state';

const TELL_MS = 200, SHORT = '[short calls]';

function readWindow(length: number): [number, number] | null {
	const [from, to] = chartWindow.peek().split(',').map(Number);
	return from >= 0 && to > from && to <= length ? [from, to] : null;
}

const sourceOf = (): string => pattern.value?.regexp.source || '';

function matchedWords(found: ChartSearch | undefined, call: ChartCall | null, partly: boolean): string {
	const n = found ? format.count(found.calls) + (partly ? '+' : '') : '';
	return !n ? '' : n === '0' ? 'no match' : call ? `${format.count(call.number)} of ${n}` : `${n} ${n === '1' ? 'match' : 'matches'}`;
}

// Whether the loaded boxes cover the visible part at its resolution.
function suffices(d: FlameData, [from, to]: [number, number]): boolean {
	const c = d.words.chart!, all = IN_FILE || c.from_ns <= 0 && c.to_ns >= c.length_ns;
	return c.from_ns <= from && (all || c.to_ns >= to) && c.to_ns - c.from_ns <= 4 * (to - from) + 1000;
}

function Notes({ data }: { data: FlameData }) {
	const c = data.words.chart!, labels = data.about.labels, uncharted = Number(labels.uncharted_calls || 0);
	return <>
		<PaperNote data={data} />
		{uncharted > 0 && <p class="note">{format.count(uncharted)} calls of this run are not in its flame chart, but in all other views: it keeps as many as strobe.trace_chart_calls says.</p>}
		{c.left_out > 0 && <p class="note">{format.count(c.left_out)} calls are left out: all of them take more memory than --query-memory allows.</p>}
	</>;
}

// Whether all callees of a call are among the loaded boxes, and none of them was joined.
function knowsCallees(d: FlameData, box: number): boolean {
	const c = d.words.chart!;
	let known = d.name(box) !== SHORT && (c.to_ns >= c.length_ns || d.start[box] >= c.from_ns && d.start[box] + d.width[box] <= c.to_ns);
	for (let child = d.firstChild[box]; known && child < d.endChild[box]; child++)
		known = d.name(child) !== SHORT;
	return known;
}

function facts(d: FlameData, box: number): [string, string][] {
	const matches = d.words.chart!.search?.boxes[box] || 0;
	return [['lasts', format.value(d.width[box], 'nanoseconds')], ['begins at', format.value(d.start[box], 'nanoseconds')],
		...(knowsCallees(d, box) ? [['self', format.value(d.self(box), 'nanoseconds')] as [string, string]] : []),
		...(matches && d.name(box) === SHORT ? [['matches', format.count(matches)] as [string, string]] : [])];
}

export function TimeChart() {
	const host = useRef<HTMLDivElement>(null), canvas = useRef<TimeView | null>(null);
	const [data, setData] = useState<FlameData | null>(null), [state, setState] = useState('loading');
	const [tip, setTip] = useState<{ box: number; x: number; y: number } | null>(null);
	const latest = useRef<FlameData | null>(null), asked = chartQuery(view.value);
	// The search of the data, and the selected match. Steps are taken one after another.
	const [searched, setSearched] = useState(''), [call, setCall] = useState<ChartCall | null>(null), goTo = useRef((_step: number) => {});

	useEffect(() => {
		let telling: ReturnType<typeof setTimeout> | undefined, typing: typeof telling, running: AbortController | null = null, at: ChartCall | null = null, steps = Promise.resolve();
		const stopped = new AbortController();
		const c = canvas.current = new TimeView(host.current!, {
			zoom: (box) => {
				const name = latest.current!.name(box);
				if (c.wasDragged || box === 0)
					return;
				if (name === SHORT)
					c.showWindow(latest.current!.start[box], latest.current!.start[box] + latest.current!.width[box]);
				else
					openFunction(name);
			},
			hover: (box, x, y) => setTip(box > 0 && !c.wasDragged ? { box, x, y } : null),
			focus: () => {}, next: (step) => goTo.current(step),
			window: (from, to) => {
				setTip(null);
				clearTimeout(telling);
				telling = setTimeout(() => {
					const all = from <= 0 && to >= latest.current!.total;
					setChartWindow(all ? '' : `${Math.floor(from)},${Math.ceil(to)}`);
					if (!suffices(latest.current!, [from, to]))
						void ask([from, to]);
				}, TELL_MS);
			},
		});
		const show = (d: FlameData, source: string, window: [number, number] | null = null) => {
			latest.current = d;
			c.setBoxes(d, window);
			setData(d);
			setSearched(source);
			setState('');
		};
		// Loads half a window more on each side, so that a small move needs no request.
		const ask = async (window: [number, number] | null, text = sourceOf()) => {
			running?.abort();
			const mine = running = new AbortController(), more = window ? (window[1] - window[0]) / 2 : 0, source = sourceOf();
			const part = window && { from: Math.max(0, Math.floor(window[0] - more)), to: Math.ceil(window[1] + more) };
			try {
				const d = await getChart(asked, part, Math.max(200, c.pixels * (part ? 2 : 1)), text, mine.signal);
				if (running !== mine)
					return;
				const wanted = latest.current ? null : readWindow(d.total);
				show(d, source, latest.current ? null : wanted || [0, d.total]);
				if (wanted && !suffices(d, wanted))
					await ask(wanted);
			} catch (why) {
				if (running !== mine)
					return;
				if (text)
					await ask(window, '');		// the search may be invalid here
				setState((why as Error).message);
			}
		};
		// The answer has the call and the boxes around it.
		const go = async (step: number) => {
			const from = Math.ceil(c.shown[0]), isSeen = at && at.to_ns >= from && at.from_ns <= c.shown[1], begin = isSeen ? 0 : from, source = sourceOf();
			try {
				const d = await getChart(asked, { from: begin, to: begin + Math.ceil(c.shown[1] - c.shown[0]) }, Math.max(200, 2 * c.pixels), source, stopped.signal,
					isSeen ? at!.number + step : step > 0 ? 1 : 0);
				setCall(at = d.words.chart!.search?.call || null);
				if (!at)
					return;
				running?.abort();
				running = null;
				show(d, source);
				c.showCall(at);
				if (!suffices(d, c.shown))
					void ask(c.shown);
			} catch (why) {
				if (!stopped.signal.aborted)
					setState((why as Error).message);
			}
		};
		goTo.current = (step) => {
			if (latest.current?.words.chart!.search?.calls)
				steps = steps.then(() => go(step));
		};
		latest.current = null;
		setState('loading');
		const undo = effect(() => {
			void sourceOf();
			clearTimeout(typing);
			setCall(at = null);
			steps = Promise.resolve();
			typing = setTimeout(() => {
				const d = latest.current, [from, to] = c.shown;
				void ask(d && (from > 0 || to < d.total) ? [from, to] : null);
			}, latest.current ? TELL_MS : 0);
		});
		// For Back and Forward.
		const undoWindow = effect(() => {
			void chartWindow.value;
			const d = latest.current, wanted = d && (readWindow(d.total) || [0, d.total]);
			if (wanted && (Math.abs(wanted[0] - c.shown[0]) > 1 || Math.abs(wanted[1] - c.shown[1]) > 1))
				c.showWindow(wanted[0], wanted[1]);
		});
		return () => {
			running?.abort();
			running = null;
			stopped.abort();
			clearTimeout(telling);
			clearTimeout(typing);
			undo();
			undoWindow();
			c.destroy();
		};
	}, [asked]);

	const found = data?.words.chart!.search;

	return <section class="time-chart graph" aria-label="Flame chart" aria-busy={state === 'loading'}>
		<div class="tools">
			<SearchField id="chart-search" plain={!!pattern.value?.plain} any={!!found?.calls} go={(step) => goTo.current(step)}
				words={sourceOf() !== searched ? 'searching…' : matchedWords(found, call, IN_FILE && !!data && data.count <= data.words.chart!.calls)} />
			<div class="segments" role="group" aria-label="Zoom">
				<button type="button" aria-label="Zoom out" onClick={() => canvas.current?.zoomBy(1.6)}>−</button>
				<button type="button" aria-label="Zoom in" onClick={() => canvas.current?.zoomBy(0.6)}>+</button>
				<button type="button" aria-label="Earlier" onClick={() => canvas.current?.moveBy(-0.3)}>←</button>
				<button type="button" aria-label="Later" onClick={() => canvas.current?.moveBy(0.3)}>→</button>
				<button type="button" onClick={() => canvas.current?.showAll()}>all of it</button>
			</div>
			{!IN_FILE && <div class="exports">
				<a href={`/api/v1/profile?${asked}&format=chrome`} title="For chrome://tracing and ui.perfetto.dev">Chrome trace</a>
				<a href={`/api/v1/profile?${asked}&format=speedscope`} title="For www.speedscope.app">speedscope</a>
			</div>}
		</div>
		{state && state !== 'loading' && <p class="none" role="alert">{state}</p>}
		<div class="flame" ref={host} tabIndex={0} role="application" aria-roledescription="flame chart" data-boxes={data?.count ?? ''}
			aria-label={`Flame chart${data ? `, ${format.count(data.words.chart!.calls)} calls over ${format.value(data.total, 'nanoseconds')}` : ''}. Plus and minus zoom, arrow keys move, 0 shows all; the table has the functions.`} />
		{data && <Notes data={data} />}
		{tip && data && tip.box < data.count && <Tooltip tip={tip} data={data} zoomed={0} facts={facts(data, tip.box)} />}
	</section>;
}
