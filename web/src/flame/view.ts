// The flame graph on a canvas. It knows neither the page's framework nor the server: data, zoom and matches are set
// from outside, and callbacks report what the user does.
//
// The cost of drawing depends on what is visible: each row is entered by bisection, and a run of boxes narrower than
// half a pixel is gray. All boxes of a row become one line of pixels, and all lines are then stretched to the height
// of rows, since a canvas rectangle costs a hundred times as much as these few pixels. The canvas is only as high as
// its window; the rows scroll beneath it.

import { walk, type FlameData } from './data';
import { colorOf, readTheme, type Theme } from './colors';
import { isGray } from './gray';
import { shorterNames, visible } from './names';
import { onPrint } from './print';

export const ROW = 19;
const PAD = 4;
const LABEL = 22;		// pixels that a label needs
const DIM = 0.55;		// opacity of what is below the zoomed box, through which the background shows
const DIMMED = Math.round(255 * DIM) << 24 | 0xffffff;
const FONT = '12px system-ui, -apple-system, "Segoe UI", Roboto, "Liberation Sans", sans-serif';
const ANIMATION_MS = 160;
export const PRINTED = 300;		// rows on paper, where each takes time

// Colors of boxes that differ from the theme's: one color per box, with black text on each, or `darkText` on a dark
// page.
export interface Paint {
	fill(box: number, dark?: boolean): string;
	darkText?: string;
	match: string;
	matchText: string;
}

const PAINTED_TEXT = '#000000';

export interface FlameEvents {
	zoom(box: number): void;
	hover(box: number, x: number, y: number): void;		// -1: nothing; in pixels of the window
	focus(box: number): void;				// by keyboard
	open?(box: number): void;				// "f" was pressed, or the box Ctrl-clicked
	next(step: number): void;				// "n" or "N"
}

// Whether a cut there would split a surrogate pair.
function isHalf(text: string, at: number): boolean {
	return (text.charCodeAt(at - 1) & 0xfc00) === 0xd800;
}

export class FlameView {
	protected readonly canvas = document.createElement('canvas');
	private readonly spacer = document.createElement('div');
	protected readonly context: CanvasRenderingContext2D;
	private readonly lines = document.createElement('canvas').getContext('2d')!;	// one line of pixels per row
	private image: ImageData | null = null;
	private linePixels = new Uint32Array();
	private readonly textWidths = new Map<string, number>();
	private readonly watcher: ResizeObserver;
	private readonly scheme = matchMedia('(prefers-color-scheme: dark)');
	private readonly unwatch = onPrint((on) => this.print(on));
	private onPaper = false;
	private scrolledTo = 0;		// scroll position before printing
	private scale = 1;		// pixels of the canvas per pixel of the page
	protected data: FlameData | null = null;
	protected theme: Theme;
	private readonly inks = new Map<string, number>();	// colors as pixels
	private colors = new Uint32Array();			// by frame, 0: not needed yet
	private faint = new Uint32Array();
	private paint: Paint | null = null;
	private hits: Uint32Array | null = null;		// number of matches before each box
	private zoomed = 0;
	private zoomedDepth = 0;
	protected focused = -1;
	protected hovered = -1;
	private touched = -1;
	protected inverted = false;
	protected above = 0;		// pixels above the rows that do not scroll
	protected left = 0;		// the visible part, in values
	protected right = 1;
	private frameWanted = 0;
	private animation = 0;
	protected cssWidth = 0;
	protected cssHeight = 0;
	private below = 0;		// pixels between the window and the root's row, at this height

	// `ownKeys` is false if the page handles keys itself.
	constructor(protected readonly box: HTMLElement, protected readonly events: FlameEvents, ownKeys = true) {
		this.context = this.canvas.getContext('2d', { alpha: false })!;
		this.theme = readTheme(this.scheme.matches);
		this.canvas.className = 'flame-canvas';
		this.spacer.className = 'flame-spacer';
		box.append(this.canvas, this.spacer);

		this.watcher = new ResizeObserver(() => this.resize());
		this.watcher.observe(box);
		this.scheme.addEventListener('change', this.changeTheme);
		box.addEventListener('scroll', this.scrolled);
		if (ownKeys)
			box.addEventListener('keydown', this.keyed);
		this.canvas.addEventListener('pointermove', this.moved);
		this.canvas.addEventListener('pointerleave', this.pointerLeft);
		this.canvas.addEventListener('click', this.clicked);
	}

	destroy(): void {
		this.watcher.disconnect();
		this.unwatch();
		this.scheme.removeEventListener('change', this.changeTheme);
		this.box.removeEventListener('scroll', this.scrolled);
		this.box.removeEventListener('keydown', this.keyed);
		cancelAnimationFrame(this.frameWanted);
		cancelAnimationFrame(this.animation);
		this.canvas.remove();
		this.spacer.remove();
	}

	// --- The shown part ---

	// With `stays` the data answers the same query as before: scroll position and mark are kept, the latter if
	// its box still exists.
	setData(data: FlameData, zoomed: number, stays = false): void {
		this.focused = stays ? this.markedIn(data) : -1;
		stays &&= !!this.data;
		this.data = data;
		this.hits = null;
		this.hovered = this.touched = -1;
		this.recolor();
		this.zoomed = zoomed;
		this.zoomedDepth = data.depthOf(zoomed);
		cancelAnimationFrame(this.animation);
		this.left = data.start[zoomed];
		this.right = this.left + data.width[zoomed];
		this.measure(!stays);
	}

	get marked(): number {
		return this.focused;
	}

	private markedIn(data: FlameData): number {
		const path = this.data && this.focused >= 0 ? this.data.path(this.focused) : null, box = path ? data.find(path) : -1;
		return path && data.depthOf(box) === path.length ? box : -1;
	}

	setZoom(box: number): void {
		if (!this.data || box === this.zoomed)
			return;
		this.zoomed = box;
		this.zoomedDepth = this.data.depthOf(box);
		this.show(box);
		this.animateTo(this.data.start[box], this.data.start[box] + this.data.width[box]);
	}

	// Indexed by frame, or by box.
	setMatch(match: ArrayLike<number> | null, byBox = false): void {
		const frame = this.data?.frame, hits = this.hits = match && frame ? new Uint32Array(frame.length + 1) : null;
		frame?.forEach((f, i) => hits && (hits[i + 1] = hits[i] + match![byBox ? i : f]));
		this.want();
	}

	private isHit(from: number, to = from + 1): boolean {
		return !!this.hits && this.hits[from] < this.hits[to];
	}

	setPaint(paint: Paint | null): void {
		this.paint = paint;
		this.want();
	}

	setInverted(inverted: boolean): void {
		if (this.inverted === inverted)
			return;
		this.inverted = inverted;
		this.measure(true);
	}

	setFocus(box: number): void {
		this.focused = box;
		if (box >= 0)
			this.show(box);
		this.want();
	}

	// The current width of a box in pixels; 0 if it is outside.
	private shownWidth(box: number): number {
		const d = this.data!, k = this.cssWidth / (this.right - this.left);
		const l = Math.max(d.start[box], this.left), r = Math.min(d.start[box] + d.width[box], this.right);
		return Math.max(0, (r - l) * k);
	}

	// --- Places ---

	protected rows(): number {
		const depths = this.data ? this.data.depths : 0;
		return (this.onPaper ? Math.min(PRINTED, depths) : depths) * ROW + 2 * PAD + this.above;
	}

	protected rowTop(depth: number): number {
		if (this.inverted)
			return this.above + PAD + depth * ROW;
		return Math.max(this.rows(), this.cssHeight) - PAD - (depth + 1) * ROW;
	}

	private get top(): number {
		return this.onPaper ? 0 : this.box.scrollTop;
	}

	protected depthAt(y: number): number {
		y += this.box.scrollTop;
		return this.inverted ? Math.floor((y - PAD - this.above) / ROW)
			: Math.floor((Math.max(this.rows(), this.cssHeight) - PAD - y) / ROW);
	}

	protected boxAt(event: { offsetX: number; offsetY: number }): number {
		if (!this.data)
			return -1;
		const x = this.left + event.offsetX * (this.right - this.left) / this.cssWidth;
		return this.data.at(this.depthAt(event.offsetY), x);
	}

	protected show(box: number): void {
		const top = this.rowTop(this.data!.depthOf(box));
		if (top < this.box.scrollTop + ROW)
			this.box.scrollTop = top - ROW;
		else if (top + 2 * ROW > this.box.scrollTop + this.cssHeight)
			this.box.scrollTop = top + 2 * ROW - this.cssHeight;
		this.keepBelow();
	}

	// Runs after the callbacks of a frame, when an empty canvas must not become visible.
	private resize(): void {
		if (!this.onPaper && (this.box.clientWidth !== this.cssWidth || this.box.clientHeight !== this.cssHeight)) {
			this.measure(!this.cssHeight);
			this.draw();
		}
	}

	protected measure(toRoot: boolean): void {
		this.box.style.setProperty('--rows', `${this.rows()}px`);		// before the height is read, which depends on it on a phone
		// The style sheet fits a line to the sheet. From 57 rows on labels get smaller, so that the sheet has room for up to 82.
		const paper = this.onPaper, height = paper ? this.rows() : this.box.clientHeight, width = paper ? Math.min(1300, Math.max(900, height / 1.2)) : this.box.clientWidth;
		if (!width || !height)
			return;
		const below = toRoot ? this.below = 0 : this.below;
		this.cssWidth = width;
		this.cssHeight = height;
		this.scale = paper ? 2 : devicePixelRatio || 1;
		this.canvas.width = Math.round(width * this.scale);
		this.canvas.height = Math.round(height * this.scale);
		if (paper)
			return;
		this.canvas.style.width = `${width}px`;
		this.canvas.style.height = `${height}px`;
		this.spacer.style.height = `${Math.max(0, this.rows() - height)}px`;
		if (toRoot)
			this.box.scrollTop = this.inverted ? 0 : this.box.scrollHeight;
		else if (!this.inverted)
			this.box.scrollTop = this.box.scrollHeight - height - below;
		this.keepBelow();
		this.want();
	}

	// A growing window scrolls by itself before it is measured, so the distance must have been stored before.
	private keepBelow(): void {
		if (this.onPaper || this.box.clientHeight !== this.cssHeight)
			return;
		this.scrolledTo = this.box.scrollTop;
		this.below = Math.max(0, this.box.scrollHeight - this.box.scrollTop - this.cssHeight);
	}

	// --- Drawing ---

	protected want(): void {
		if (!this.frameWanted)
			this.frameWanted = requestAnimationFrame(() => {
				this.frameWanted = 0;
				this.draw();
			});
	}

	private animateTo(left: number, right: number): void {
		const fromLeft = this.left, fromRight = this.right, begin = performance.now();
		const still = matchMedia('(prefers-reduced-motion: reduce)').matches;
		cancelAnimationFrame(this.animation);
		const step = (now: number) => {
			const t = still ? 1 : Math.min(1, Math.max(0, (now - begin) / ANIMATION_MS)), ease = 1 - (1 - t) ** 3;
			this.left = fromLeft + (left - fromLeft) * ease;
			this.right = fromRight + (right - fromRight) * ease;
			this.draw();
			if (t < 1)
				this.animation = requestAnimationFrame(step);
		};
		step(begin);
	}

	protected recolor(): void {
		if (!this.data)
			return;
		this.colors = new Uint32Array(this.data.frameName.length);
		this.faint = new Uint32Array(this.data.frameName.length);
	}

	protected draw(): void {
		const g = this.context, { scale, top } = this;
		g.setTransform(scale, 0, 0, scale, 0, 0);
		g.fillStyle = this.theme.background;
		g.fillRect(0, 0, this.cssWidth, this.cssHeight);
		if (!this.data || !this.data.total)
			return;
		const shown: [depth: number, y: number][] = [];
		for (let depth = 0; depth < this.data.depths; depth++) {
			const y = this.rowTop(depth) - top;
			if (y > -ROW && y < this.cssHeight)
				shown.push([depth, y]);
		}
		if (!shown.length)
			return;
		if (!this.inverted)
			shown.reverse();
		g.font = FONT;
		g.textBaseline = 'middle';
		const named = this.paintLines(shown.map(([depth]) => depth));
		g.imageSmoothingEnabled = false;
		g.drawImage(this.lines.canvas, 0, 0, this.canvas.width, shown.length, 0, shown[0][1], this.cssWidth, shown.length * ROW);
		shown.forEach(([, y]) => g.fillRect(0, y + ROW - 1, this.cssWidth, 1));
		shown.forEach(([depth, y], i) => this.writeRow(named[i], depth, y));
		g.globalAlpha = 1;
		this.outline(this.hovered, 1);
		this.outline(this.focused, 2);
	}

	// Returns the boxes of each row that have room for text.
	private paintLines(depths: number[]): number[][] {
		const width = this.canvas.width, height = depths.length, g = this.lines;
		if (!this.image || this.image.width !== width || this.image.height < height) {
			g.canvas.width = width;
			g.canvas.height = height;
			this.image = g.createImageData(width, height);
			this.linePixels = new Uint32Array(this.image.data.buffer);
		}
		this.linePixels.fill(0);
		const named = depths.map((depth, i) => this.paintRow(depth, this.linePixels.subarray(i * width, (i + 1) * width)));
		g.putImageData(this.image, 0, 0);
		return named;
	}

	private paintRow(depth: number, line: Uint32Array): number[] {
		const d = this.data!, { start, width } = d, left = this.left, right = this.right, end = d.offsets[depth + 1];
		const k = line.length / (right - left), dim = depth < this.zoomedDepth ? DIMMED : -1, gray = this.ink(this.theme.run) & dim, { scale } = this;
		const named: number[] = [], found = this.hits && this.matchInk() & dim;
		let grayTo = -1;

		// A match stays visible whatever shares its first pixel.
		const fill = (ink: number, from: number, to: number) => line.fill(ink, found && ink !== found && line[from] === found >>> 0 ? from + 1 : from, to);
		for (let i = d.firstAfter(depth, left); i < end && start[i] < right; i++) {
			const w = width[i] * k, from = (start[i] - left) * k;
			if (w < 0.5) {
				const half = Math.floor(from * 2), at = half >> 1, first = i;
				// Everything that starts within the same half pixel is part of the same run, except
				// the last one if it is wide.
				const last = this.skipTo(i + 1, end, left + (half + 1) / (2 * k)) - 1;
				i = last > i && width[last] * k >= 0.5 ? last - 1 : last;
				const ink = this.isHit(first, i + 1) ? found! : gray;
				if (at - grayTo === 2)
					fill(ink, at - 1, at);
				fill(ink, at, at + 1);
				grayTo = at;
				continue;
			}
			const x = Math.max(0, Math.round(from)), to = Math.max(x + 1, Math.min(line.length, Math.round(from + w)));
			fill(isGray(d, i) ? gray : this.inkOf(d.frame[i], i) & dim, x, to - x > 2 * scale ? to - Math.round(scale) : to);
			if (w > LABEL * scale && !isGray(d, i))
				named.push(i);
		}
		return named;
	}

	protected skipTo(low: number, high: number, x: number): number {
		const start = this.data!.start;
		for (let step = 1; low + step < high; step *= 2)
			if (start[low + step] < x)
				low += step;
			else
				high = low + step;
		while (low < high) {
			const middle = (low + high) >> 1;
			if (start[middle] < x)
				low = middle + 1;
			else
				high = middle;
		}
		return low;
	}

	// A color as the four bytes of a pixel.
	private ink(color: string): number {
		let ink = this.inks.get(color);
		if (ink === undefined) {
			this.lines.fillStyle = color;
			const rgb = parseInt((this.lines.fillStyle as string).slice(1), 16);
			ink = (0xff000000 | (rgb & 0xff) << 16 | rgb & 0xff00 | rgb >> 16) >>> 0;
			this.inks.set(color, ink);
		}
		return ink;
	}

	private matchInk(): number {
		return this.ink((this.paint || this.theme).match);
	}

	private inkOf(frame: number, box: number): number {
		const { paint, hits, theme } = this;
		if (this.isHit(box))
			return this.matchInk();
		if (paint)
			return this.ink(paint.fill(box, theme.dark));
		const known = hits ? this.faint : this.colors;
		return known[frame] ||= this.ink(colorOf(this.data!, theme, frame, hits !== null));
	}

	private writeRow(named: number[], depth: number, y: number): void {
		const d = this.data!, g = this.context, paint = this.paint, k = this.cssWidth / (this.right - this.left);
		g.globalAlpha = depth < this.zoomedDepth ? DIM : 1;
		for (const i of named) {
			const from = (d.start[i] - this.left) * k, x = Math.max(0, from);
			const text = this.label(d.name(i), Math.min(this.cssWidth, from + d.width[i] * k) - x - 8);
			if (!text)
				continue;
			const hit = this.isHit(i);
			g.fillStyle = paint ? (hit ? paint.matchText : this.theme.dark && paint.darkText || PAINTED_TEXT) : hit ? this.theme.matchText : this.theme.text;
			g.fillText(text, x + 4, y + ROW / 2);
		}
	}

	private outline(box: number, thick: number): void {
		if (box < 0 || !this.data)
			return;
		const d = this.data, g = this.context, k = this.cssWidth / (this.right - this.left);
		const y = this.rowTop(d.depthOf(box)) - this.top;
		const x = Math.max(0, (d.start[box] - this.left) * k), w = Math.max(this.shownWidth(box), 1.5);
		if (d.start[box] >= this.right || d.start[box] + d.width[box] <= this.left)
			return;
		g.strokeStyle = this.theme.focus;
		g.lineWidth = thick;
		g.strokeRect(x + thick / 2, y + thick / 2, w - thick - 0.5, ROW - 1 - thick);
	}

	// The longest form of a name that fits: whole, without namespace or folder, without class, or truncated.
	private label(name: string, room: number): string {
		const forms = shorterNames(visible(name)), last = forms[forms.length - 1];
		for (const form of forms)
			if (this.textWidth(form) <= room)
				return form;
		const characters = last.length > 400 ? last.slice(0, 400) : last;
		let fit = Math.floor(characters.length * room / this.textWidth(characters));
		while (fit >= 2 && (isHalf(characters, fit) || this.context.measureText(`${characters.slice(0, fit)}…`).width > room))
			fit--;
		return fit >= 2 ? `${characters.slice(0, fit)}…` : '';
	}

	private textWidth(text: string): number {
		let w = this.textWidths.get(text);
		if (w === undefined) {
			w = this.context.measureText(text.length > 400 ? text.slice(0, 400) : text).width;
			this.textWidths.set(text, w);
		}
		return w;
	}

	// --- Input ---

	private readonly changeTheme = () => {
		this.theme = readTheme(this.scheme.matches && !this.onPaper);
		this.recolor();
		this.want();
	};

	// Draws all rows in light colors, immediately: there is no other frame before printing.
	private print(on: boolean): void {
		if (on === this.onPaper)
			return;
		const top = this.scrolledTo;
		this.onPaper = on;
		this.changeTheme();
		this.measure(false);
		if (!on && this.inverted)
			this.box.scrollTop = top;
		this.draw();
	}

	private readonly scrolled = () => {
		this.keepBelow();
		this.leftCanvas();
		this.want();
	};

	private readonly moved = (event: PointerEvent) => {
		if (event.pointerType !== 'mouse')
			return;
		const box = this.boxAt(event);
		this.canvas.style.cursor = box >= 0 ? 'pointer' : 'default';
		if (box !== this.hovered)
			this.want();
		this.hovered = box;
		this.events.hover(box, event.clientX, event.clientY);
	};

	// A finger leaves whenever it is lifted, before its click arrives.
	private readonly pointerLeft = (event: PointerEvent) => {
		if (event.pointerType === 'mouse')
			this.leftCanvas();
	};

	protected readonly leftCanvas = () => {
		if (this.hovered >= 0)
			this.want();
		this.hovered = this.touched = -1;
		this.events.hover(-1, 0, 0);
	};

	// A finger cannot hover: its first touch describes a box, the second one on it zooms.
	private readonly clicked = (event: MouseEvent) => {
		const box = this.boxAt(event), byFinger = (event as PointerEvent).pointerType === 'touch';
		if (byFinger && box !== this.touched) {
			this.touched = this.hovered = box;
			this.events.hover(box, event.clientX, event.clientY);
			this.want();
			return;
		}
		this.touched = -1;
		if (box >= 0) {
			this.focused = -1;
			if (byFinger)
				this.leftCanvas();
			if (this.events.open && (event.ctrlKey || event.metaKey))
				this.events.open(box);
			else
				this.events.zoom(box);
		}
	};

	private readonly keyed = (event: KeyboardEvent) => {
		if (!this.data || !this.data.total || event.ctrlKey || event.metaKey || event.altKey)
			return;
		if (event.key.startsWith('Arrow')) {
			this.setFocus(this.focused < 0 ? this.zoomed : walk(this.data, this.focused, this.zoomed, this.inverted, event.key));
			this.events.focus(this.focused);
		} else if (event.key === 'Enter' && this.focused >= 0) {
			this.events.zoom(this.focused);
		} else if (event.key === 'Backspace') {
			this.events.zoom(this.data.parent(this.zoomed));
		} else if (event.key === 'Escape') {
			this.setFocus(-1);
			this.events.zoom(0);
		} else if (event.key === 'f' && this.events.open) {
			this.events.open(this.focused < 0 ? this.zoomed : this.focused);
		} else if (event.key === 'n' || event.key === 'N') {
			this.events.next(event.key === 'n' ? 1 : -1);
		} else {
			return;
		}
		event.preventDefault();
	};
}
