// The call graph, laid out by Graphviz on the server. The wheel, + and - zoom, dragging and Shift with the arrow keys
// move; a click on a box leads to its function. It is a single tab stop, within which arrow keys walk from box to
// box. It opens at the critical path, at a readable size.

import { useEffect, useRef, useState } from 'preact/hooks';
import { tableQuery } from './api';
import { getCallGraph } from './api_views';
import * as format from './format';
import { flame, loadingCalls, refreshes } from './load';
import { callBox, change, onPaper, openFunction, setCallBox, view } from './state';

const LEAST_SCALE = 1, GAP = 8, STEPS = ['0', '0.1', '0.2', '0.5', '1', '2', '5', '10', '20'], USUAL = '0.5';

interface Box {
	x: number;
	y: number;
	width: number;
	height: number;
}

// Graphviz's picture; style and script are the page's own.
function parse(text: string): SVGSVGElement | null {
	const svg = new DOMParser().parseFromString(text, 'image/svg+xml').documentElement;
	if (!(svg instanceof SVGSVGElement))
		return null;
	for (const e of svg.querySelectorAll('script, style, title, foreignObject'))
		e.remove();
	for (const e of svg.querySelectorAll('*'))
		for (const { name } of [...e.attributes])
			if (name.startsWith('on') || name === 'style' || name === 'xlink:href' || name === 'href')
				e.removeAttribute(name);
	svg.removeAttribute('style');
	return document.importNode(svg, true);
}

const titleOf = (node?: Element | null) => node?.querySelector('a')?.getAttribute('xlink:title') || '';

// The first line of a box's title has the whole name, the second its file and line, if known.
function placeOf(node: Element): [name: string, file: string] {
	const [name, place = ''] = titleOf(node).split('\n');
	return [name, /^\/|:\/\//.test(place) ? place.replace(/:\d+$/, '') : ''];
}

class Pan {
	private readonly all: Box;
	private box: Box;
	private readonly pointers = new Map<number, PointerEvent>();
	private moved = 0;
	private telling: ReturnType<typeof setTimeout> | undefined;

	constructor(private readonly host: HTMLElement, private readonly svg: SVGSVGElement) {
		const { x, y, width, height } = svg.viewBox.baseVal;
		this.all = { x, y, width, height };
		this.box = { ...this.all };
		svg.setAttribute('width', '100%');
		svg.setAttribute('height', '100%');
		svg.addEventListener('wheel', (e) => {
			e.preventDefault();
			this.zoom(Math.exp(Math.max(-0.5, Math.min(0.5, e.deltaY * 0.002))), e.clientX, e.clientY);
		}, { passive: false });
		svg.addEventListener('pointerdown', (e) => {
			this.pointers.set(e.pointerId, e);
			this.moved = 0;
		});
		for (const name of ['pointerup', 'pointercancel', 'pointerleave'] as const)
			svg.addEventListener(name, (e) => this.pointers.delete(e.pointerId));
		svg.addEventListener('pointermove', (e) => this.drag(e));
		svg.addEventListener('dblclick', () => this.showAll());
	}

	// Dragging is not a click.
	get wasDragged(): boolean {
		return this.moved > 4;
	}

	// Shows the part of the graph given by the URL: everything, the critical path (nothing), or a part. Browsers
	// do not allow a new URL for each pixel.
	private show(box: Box, said = [box.x, box.y, box.width, box.height].map((v) => +v.toFixed(2)).join(',')): void {
		this.box = box;
		this.svg.setAttribute('viewBox', `${box.x} ${box.y} ${box.width} ${box.height}`);
		clearTimeout(this.telling);
		this.telling = setTimeout(() => said === callBox.peek() || setCallBox(said), 200);
	}

	get isPart(): boolean {
		const a = this.all, b = this.box;
		return b.x > a.x || b.y > a.y || b.x + b.width < a.x + a.width || b.y + b.height < a.y + a.height;
	}

	showAll(said = 'all'): void {
		this.show({ ...this.all }, said);
	}

	stop(): void {
		clearTimeout(this.telling);
	}

	// Restores the state given by the URL.
	restore(): void {
		const [x, y, width, height] = callBox.peek().split(',').map(Number), r = this.host.getBoundingClientRect();
		if (callBox.peek() === 'all')
			this.showAll();
		else if (width > 0 && Number.isFinite(x) && Number.isFinite(y) && r.width > 0)
			this.show({ x, y, width, height: height > 0 ? height : width * r.height / r.width });
		else
			this.open();
	}

	// Shows the whole graph if it is readable; else the top of the heaviest path.
	open(): void {
		const { width, height } = this.host.getBoundingClientRect(), a = this.all;
		if (Math.min(width / a.width, height / a.height) >= LEAST_SCALE)
			return this.showAll('');
		const path = [...this.svg.querySelectorAll<SVGGElement>('.node.critical')].map((n) => n.getBoundingClientRect());
		const top = path.sort((x, y) => x.top - y.top)[0], middle = top ? this.at(top.left + top.width / 2, top.top) : { x: a.x + a.width / 2, y: a.y };
		const w = width / LEAST_SCALE, h = height / LEAST_SCALE;
		this.show({ x: middle.x - w / 2, y: Math.max(a.y, middle.y - 30), width: w, height: h }, '');
	}

	private at(clientX: number, clientY: number): DOMPoint {
		return new DOMPoint(clientX, clientY).matrixTransform(this.svg.getScreenCTM()!.inverse());
	}

	zoom(factor: number, clientX?: number, clientY?: number): void {
		const r = this.host.getBoundingClientRect(), b = this.box;
		const width = Math.min(this.all.width * 2, Math.max(this.all.width / 200, b.width * factor)), k = width / b.width;
		const p = this.at(clientX ?? r.left + r.width / 2, clientY ?? r.top + r.height / 2);
		this.show({ x: p.x - (p.x - b.x) * k, y: p.y - (p.y - b.y) * k, width, height: b.height * k });
	}

	move(dx: number, dy: number): void {
		this.show({ ...this.box, x: this.box.x + dx * this.box.width, y: this.box.y + dy * this.box.height });
	}

	// Scrolls as little as needed to show a whole box.
	reveal(node: Element): void {
		const r = node.getBoundingClientRect(), all = this.host.getBoundingClientRect();
		const off = (from: number, to: number, first: number, last: number) => Math.min(0, from - first - GAP) || Math.max(0, to - last + GAP);
		const a = this.at(0, 0), b = this.at(off(r.left, r.right, all.left, all.right), off(r.top, r.bottom, all.top, all.bottom));
		if (a.x !== b.x || a.y !== b.y)
			this.show({ ...this.box, x: this.box.x + b.x - a.x, y: this.box.y + b.y - a.y });
	}

	private drag(e: PointerEvent): void {
		const before = this.pointers.get(e.pointerId);
		if (!before)
			return;
		const other = [...this.pointers.values()].find((p) => p.pointerId !== e.pointerId);
		const gap = (a: PointerEvent, b: PointerEvent) => Math.hypot(a.clientX - b.clientX, a.clientY - b.clientY);
		this.moved += gap(e, before);
		if (other && gap(e, other) > 0) {
			this.zoom(gap(before, other) / gap(e, other), other.clientX, other.clientY);
		} else {
			const from = this.at(before.clientX, before.clientY), to = this.at(e.clientX, e.clientY);
			this.show({ ...this.box, x: this.box.x + from.x - to.x, y: this.box.y + from.y - to.y });
		}
		this.pointers.set(e.pointerId, e);
	}
}

const WAYS: Record<string, [dx: number, dy: number]> = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, -1], ArrowDown: [0, 1] };

interface Place {
	e: SVGGElement;
	x: number;
	y: number;
}

// The boxes, row by row.
function places(host: HTMLElement): Place[] {
	const all = [...host.querySelectorAll<SVGGElement>('.node')].map((e) => {
		const { x, y, width, height } = e.getBBox();
		return { e, x: x + width / 2, y: y + height / 2 };
	});
	return all.sort((a, b) => Math.round(a.y - b.y) || a.x - b.x);
}

// Left and right visit every box, up and down go to the nearest one. Without a current box, starts at the first of
// the critical path.
function nextBox(host: HTMLElement, now: Element | null, [dx, dy]: [number, number]): SVGGElement | undefined {
	const all = places(host), at = all.findIndex(({ e }) => e === now), from = all[at];
	if (!from)
		return (all.find(({ e }) => e.classList.contains('critical')) || all[0])?.e;
	if (dx)
		return all[at + dx]?.e;
	const far = ({ x, y }: Place) => (y - from.y) * dy + 2 * Math.abs(x - from.x);
	return all.filter(({ y }) => (y - from.y) * dy > 1).sort((a, b) => far(a) - far(b))[0]?.e;
}

function nothing(): string {
	const { threshold } = view.peek();
	return threshold === '0' ? 'There is no call graph: no function has a value.' :
		`There is no call graph: no function has at least ${threshold || USUAL}% of all. Hide less to see some.`;
}

function Threshold() {
	const now = view.value.threshold || USUAL, at = STEPS.findIndex((s) => Number(s) >= Number(now));
	return <label class="threshold">hide below <input type="range" min={0} max={STEPS.length - 1} step={1} value={at < 0 ? STEPS.length - 1 : at}
		aria-valuetext={`${now} percent`} onChange={(e) => {
			const step = STEPS[Number(e.currentTarget.value)];
			change({ threshold: step === USUAL ? '' : step });
		}} /> <output>{now}%</output></label>;
}

function press(e: KeyboardEvent, p: Pan | null): void {
	const host = e.currentTarget as HTMLElement, way = WAYS[e.key], keys: Record<string, () => void> = {
		'+': () => p!.zoom(0.8), '=': () => p!.zoom(0.8), '-': () => p!.zoom(1.25), '0': () => p!.showAll(), Escape: () => p!.showAll(),
	};
	if (!p || !way && !keys[e.key] || e.ctrlKey || e.metaKey || e.altKey)
		return;
	e.preventDefault();
	if (!way)
		return keys[e.key]();
	if (e.shiftKey)
		return p.move(way[0] / 10, way[1] / 10);
	const box = nextBox(host, document.activeElement!.closest('.call-graph .node'), way);
	box?.focus({ preventScroll: true });
	if (box)
		p.reveal(box);
}

// The focused box of the last graph, for returning from its function.
let left = { graph: '', title: '' };

function focused(): string {
	return titleOf(document.activeElement?.closest('.call-graph .node'));
}

export function CallGraph() {
	const host = useRef<HTMLDivElement>(null), pan = useRef<Pan | null>(null), shown = useRef('');
	const [state, setState] = useState('loading'), [note, setNote] = useState(''), v = view.value, asked = `${tableQuery(v)} ${v.threshold}`;

	useEffect(() => {
		const stop = new AbortController();
		setState('loading');
		loadingCalls.value = true;
		getCallGraph(view.peek(), stop.signal).then(({ svg: text, warning }) => {
			const svg = parse(text);
			if (!svg)
				throw new Error('the server sent no picture');
			const title = focused() || (left.graph === asked ? left.title : '');
			left = { graph: '', title: '' };
			host.current!.replaceChildren(svg);
			// The text lines are the accessible name. A separate aria-label would differ from what is
			// visible of a box at the edge.
			const nodes = [...svg.querySelectorAll<SVGGElement>('.node')], names = nodes.map((node) => placeOf(node)[0]);
			for (const node of nodes) {
				const [name, file] = placeOf(node), open = () => openFunction(name, names.indexOf(name) < names.lastIndexOf(name) ? file : '');
				node.setAttribute('tabindex', '-1');
				node.setAttribute('role', 'link');
				node.addEventListener('click', () => pan.current!.wasDragged || open());
				node.addEventListener('keydown', (e) => e.key === 'Enter' && open());
			}
			pan.current?.stop();
			pan.current = new Pan(host.current!, svg);
			pan.current.restore();
			if (title)
				nodes.find((node) => titleOf(node) === title)?.focus({ preventScroll: true });
			setNote(svg.querySelector('.node') ? warning : nothing());
			setState('');
		}).catch((why: Error) => stop.signal.aborted || setState(why.message)).finally(() => {
			if (!stop.signal.aborted)
				loadingCalls.value = false;
		});
		return () => {
			loadingCalls.value = false;
			stop.abort();
		};
	}, [asked, refreshes.value]);
	shown.current = asked;
	useEffect(() => () => {
		left = { graph: shown.current, title: focused() };
		pan.current?.stop();
	}, []);

	return <section class="calls" aria-label="Call graph" aria-busy={state === 'loading'}>
		<div class="tools">
			<Threshold />
			<div class="segments" role="group" aria-label="Zoom">
				<button type="button" aria-label="Zoom out" onClick={() => pan.current?.zoom(1.25)}>−</button>
				<button type="button" aria-label="Zoom in" onClick={() => pan.current?.zoom(0.8)}>+</button>
				<button type="button" onClick={() => pan.current?.showAll()}>all of it</button>
				<button type="button" onClick={() => pan.current?.open()}>critical path</button>
			</div>
			{flame.value?.about.compared && <span class="legend"><i />gone</span>}
		</div>
		{state && state !== 'loading' && <p class="none" role="alert">{format.sentence(state)}</p>}
		{note && <p class="note" role="status">{format.sentence(note)}</p>}
		{onPaper.value && pan.current?.isPart && <p class="note">Only the part in view is printed; “all of it” shows the whole graph.</p>}
		<div class="call-graph" ref={host} tabIndex={0} role="application" aria-label="Call graph. Arrow keys walk the functions, Enter opens one; plus and minus zoom, Shift and arrow keys move, 0 shows all." onKeyDown={(e) => press(e, pan.current)} />
	</section>;
}
