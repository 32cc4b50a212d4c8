// A flame chart on the canvas: calls over time, the outermost on top. The window is any part of the time: the wheel
// zooms at the pointer, dragging and keys move. Boxes are those of the window last requested from the server; other
// parts appear after the next request.

import type { ChartCall, FlameData } from './data';
import { FlameView, ROW, type FlameEvents } from './view';

const AXIS = 22, LEAST_NS = 100, TICK_PX = 90, DRAG_PX = 4, SEEN = 200;

export interface TimeEvents extends FlameEvents {
	window(from: number, to: number): void;		// the visible part, in nanoseconds
}

// Steps of 1, 2 and 5, no closer than `least`.
function tickStep(least: number): number {
	const power = 10 ** Math.floor(Math.log10(Math.max(1, least)));
	return [1, 2, 5, 10].map((n) => n * power).find((step) => step >= least)!;
}

// A time with as many digits as neighboring ticks need to differ.
function tickText(ns: number, step: number): string {
	const [unit, size] = step >= 1e9 ? ['s', 1e9] : step >= 1e6 ? ['ms', 1e6] : step >= 1e3 ? ['µs', 1e3] : ['ns', 1] as [string, number];
	return `${(ns / (size as number)).toLocaleString('en', { maximumFractionDigits: 0 })} ${unit}`;
}

export class TimeView extends FlameView {
	private readonly pointers = new Map<number, PointerEvent>();
	private traveled = 0;
	private call: ChartCall | null = null;		// the selected match
	private callIsShown = true;
	private readonly onWindow: (from: number, to: number) => void;

	constructor(box: HTMLElement, events: TimeEvents) {
		super(box, events, false);
		this.onWindow = events.window;
		this.inverted = true;
		this.above = AXIS;
		this.canvas.classList.add('time');
		this.canvas.addEventListener('wheel', this.wheeled, { passive: false });
		this.canvas.addEventListener('pointerdown', this.pressed);
		this.canvas.addEventListener('pointermove', this.dragged);
		for (const name of ['pointerup', 'pointercancel', 'pointerleave'] as const)
			this.canvas.addEventListener(name, this.released);
		box.addEventListener('keydown', this.pressedKey);
	}

	override destroy(): void {
		this.box.removeEventListener('keydown', this.pressedKey);
		super.destroy();
	}

	// Dragging is not a click.
	get wasDragged(): boolean {
		return this.traveled > DRAG_PX;
	}

	get shown(): [from: number, to: number] {
		return [this.left, this.right];
	}

	get pixels(): number {
		return Math.ceil(this.cssWidth * (devicePixelRatio || 1));
	}

	// Sets other boxes of the same chart, or of another one.
	setBoxes(data: FlameData, window: [number, number] | null): void {
		const first = !this.data;
		this.data = data;
		this.hovered = -1;
		this.recolor();
		if (window)
			[this.left, this.right] = window;
		this.setMatch(data.words.chart!.search?.boxes || null, true);
		this.measure(first);
		this.markCall();
	}

	// Shows a call, wide enough to be visible, and marks it. move_to_call() in src/render/chart_data.c follows these rules.
	showCall(call: ChartCall): void {
		const { from_ns: from, to_ns: to } = call, length = to - from, now = this.right - this.left, width = length * SEEN < now ? length * 30 : now;
		this.call = call;
		this.callIsShown = false;
		if (width < now || from < this.left || from + Math.min(length, width) > this.right)
			this.showWindow(from + Math.min(length, width) / 2 - width / 2, from + Math.min(length, width) / 2 + width / 2);
		this.markCall();
	}

	// Done as soon as it has a box of its own.
	private markCall(): void {
		const d = this.data!, { call } = this, depth = call?.depth || 0, end = d.offsets[depth + 1];
		this.focused = -1;
		if (!call || depth >= d.depths)
			return;
		let box = this.skipTo(d.offsets[depth], end, call.from_ns);
		while (box < end && d.start[box] === call.from_ns && d.width[box] !== call.to_ns - call.from_ns)
			box++;
		if (box === end || d.start[box] !== call.from_ns)
			return;
		this.focused = box;
		if (!this.callIsShown)
			this.show(box);
		this.callIsShown = true;
		this.want();
	}

	// Limits the window to the chart, and to a width that can be distinguished.
	showWindow(from: number, to: number): void {
		const length = this.data?.total || 1, width = Math.min(length, Math.max(Math.min(LEAST_NS, length), to - from));
		const middle = (from + to) / 2, left = Math.max(0, Math.min(length - width, middle - width / 2));
		this.left = left;
		this.right = left + width;
		this.want();
		this.onWindow(this.left, this.right);
	}

	zoomBy(factor: number, at = this.cssWidth / 2): void {
		const k = (this.right - this.left) / this.cssWidth, time = this.left + at * k;
		const width = Math.min(this.data?.total || 1, Math.max(LEAST_NS, (this.right - this.left) * factor));
		const left = time - width * at / this.cssWidth;
		this.showWindow(left, left + width);
	}

	moveBy(share: number): void {
		const by = share * (this.right - this.left), length = this.data?.total || 1;
		const left = Math.max(0, Math.min(length - (this.right - this.left), this.left + by));
		this.showWindow(left, left + this.right - this.left);
	}

	showAll(): void {
		this.showWindow(0, this.data?.total || 1);
	}

	// --- Drawing ---

	protected override boxAt(event: { offsetX: number; offsetY: number }): number {
		return event.offsetY < AXIS ? -1 : super.boxAt(event);
	}

	protected override draw(): void {
		super.draw();
		if (!this.data || !this.data.total)
			return;
		const g = this.context, k = this.cssWidth / (this.right - this.left), step = tickStep(TICK_PX / k);
		g.fillStyle = this.theme.background;
		g.fillRect(0, 0, this.cssWidth, AXIS);
		g.fillStyle = this.theme.root;
		g.fillRect(0, AXIS - 1, this.cssWidth, 1);
		g.textBaseline = 'middle';
		for (let at = Math.ceil(this.left / step) * step; at <= this.right; at += step) {
			const x = Math.min(this.cssWidth - 1, Math.round((at - this.left) * k)), text = tickText(at, step), width = g.measureText(text).width + 4;
			const isRight = x + width < this.cssWidth;		// else to the left of its line, if the number before leaves room for it
			if (!isRight && step * k < 2 * width + 4)
				break;
			g.fillStyle = this.theme.root;
			g.fillRect(x, 0, 1, AXIS);
			g.fillStyle = this.theme.focus;
			g.fillText(text, isRight ? x + 4 : x - width, AXIS / 2);
		}
	}

	// --- Input ---

	private readonly wheeled = (e: WheelEvent) => {
		if (!this.data || (e.shiftKey && !e.deltaX))
			return;		// the rows scroll instead
		e.preventDefault();
		if (Math.abs(e.deltaX) > Math.abs(e.deltaY))
			this.moveBy(e.deltaX / this.cssWidth);
		else
			this.zoomBy(Math.exp(Math.max(-0.5, Math.min(0.5, e.deltaY * 0.002))), e.offsetX);
	};

	private readonly pressed = (e: PointerEvent) => {
		this.pointers.set(e.pointerId, e);
		this.traveled = 0;
	};

	private readonly released = (e: PointerEvent) => {
		this.pointers.delete(e.pointerId);
	};

	// One pointer moves, two zoom.
	private readonly dragged = (e: PointerEvent) => {
		const before = this.pointers.get(e.pointerId);
		if (!before || !this.data)
			return;
		const other = [...this.pointers.values()].find((p) => p.pointerId !== e.pointerId);
		const gap = (a: PointerEvent, b: PointerEvent) => Math.abs(a.offsetX - b.offsetX);
		this.traveled += Math.hypot(e.clientX - before.clientX, e.clientY - before.clientY);
		if (this.wasDragged)
			this.leftCanvas();
		if (other && gap(e, other) > 8)
			this.zoomBy(gap(before, other) / gap(e, other), other.offsetX);
		else if (!other) {
			this.moveBy((before.offsetX - e.offsetX) / this.cssWidth);
			if (e.pointerType === 'mouse')
				this.box.scrollTop += before.clientY - e.clientY;
		}
		this.pointers.set(e.pointerId, e);
	};

	private readonly pressedKey = (e: KeyboardEvent) => {
		const keys: Record<string, () => void> = {
			'+': () => this.zoomBy(0.7), '=': () => this.zoomBy(0.7), '-': () => this.zoomBy(1.4), '0': () => this.showAll(), Escape: () => this.showAll(),
			w: () => this.zoomBy(0.7), s: () => this.zoomBy(1.4), a: () => this.moveBy(-0.2), d: () => this.moveBy(0.2),
			n: () => this.events.next(1), N: () => this.events.next(-1), ArrowLeft: () => this.moveBy(-0.2), ArrowRight: () => this.moveBy(0.2),
			ArrowUp: () => this.box.scrollBy(0, -2 * ROW), ArrowDown: () => this.box.scrollBy(0, 2 * ROW),
		};
		if (!this.data || !keys[e.key] || e.ctrlKey || e.metaKey || e.altKey)
			return;
		e.preventDefault();
		keys[e.key]();
	};
}
