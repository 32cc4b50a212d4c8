// The script in an SVG flame graph. The document has frames as elements, for viewers without scripts, and as numbers
// in the table "profile" (src/render/table.c). This draws from the numbers: only visible frames become elements, so
// that 76,000 frames zoom as quickly as 76.

import { ABOUT_NOTHING, FlameData, wholeOf, type Whole } from '../flame/data';
import { Exact, type ExactTable } from '../flame/exact';
import { shorterNames, visible } from '../flame/names';
import { onPrint } from '../flame/print';
import type { FlameEvents, Paint } from '../flame/view';
import { Digits } from './digits';
import { html, parse, svg } from './dom';
import { Page, type About, type View } from './page';

interface Table extends About {
	width: number;
	fluid: boolean;			// it takes the width of its window
	height: number;
	top: number;
	bottom: number;
	margin: number;
	gap: number;
	frameHeight: number;
	characterWidth: number;
	elementMin: number;
	drawnMin: number;		// px
	narrowFill: string;
	names?: string[];
	more?: string[];		// after the names in titles
	places?: string[];
	count: number;
	all: number;
	boxes: string;
	sides?: string;
	scale?: number;		// factor of the values before
	sums?: string;
	exact?: ExactTable;
	beyond?: number;
	unlisted?: number;
}

const FEWEST = 200, MOST = 700;	// elements of a redrawn picture, in sight or near it: those with room for a label, within these bounds
const LABEL = 3;		// characters
const NEAR = 1;			// px: boxes narrower than a pixel are merged if they are closer than that
const BAR_GAP = 8, TABLE_HEIGHT = 420, LINE = 16, NARROWEST = 240;

// Without its share: "name (1,234 samples, 5.67%)".
function nameIn(frame: Element): string {
	const title = frame.firstChild!.textContent!;
	return title.slice(0, title.lastIndexOf(' ('));
}

// A narrow picture shows only the beginning of a line.
const whole = (line: Element): string => line.getAttribute('data-whole') ?? line.textContent!;

// The values of functions in the whole profile: 0 for the root, then those of each name.
function readSums(t: Table, names: number): Whole | undefined {
	const digits = new Digits(t.sums || ''), sums = { first: new Float64Array(names), second: new Float64Array(names), unlisted: t.unlisted || 0 };
	for (let i = 1; t.sums && i < names; i++) {
		sums.first[i] = digits.signed();
		sums.second[i] = digits.signed();
	}
	return t.sums ? sums : undefined;
}

// Converts the preorder of src/render/table.c to the engine's order by depth. `number` maps boxes of the table to the
// result, and `drawn` has boxes that are elements, by their number in the table.
function readTable(t: Table, elements: NodeListOf<Element>): { data: FlameData; number: Uint32Array; drawn: number[] } {
	const { count, names = [], sides } = t, fills: string[] | undefined = t.names || sides ? undefined : t.drawnFills = [], digits = new Digits(t.boxes), offsets = [0], next = [0], right = [t.all], drawn: number[] = [];
	const depth = new Uint32Array(count), from = new Float64Array(count), wide = new Float64Array(count), name = new Uint32Array(count);
	for (let i = 0, d = 0; i < count; i++) {
		depth[i] = d += 1 - digits.next();
		const start = from[i] = next[d] + digits.signed();		// where its elder sibling, or its caller, left off
		const end = right[d] - digits.signed();
		wide[i] = end - start;
		name[i] = digits.next();
		if (i === 0 || wide[i] >= t.elementMin) {
			if (name[i] === names.length) {
				const e = elements[drawn.length];
				names.push(nameIn(e));
				fills?.push(e.querySelector('rect')!.getAttribute('fill')!);
			}
			drawn.push(i);
		}
		next[d] = right[d + 1] = end;
		next[d + 1] = start;
		offsets[d + 1] = (offsets[d + 1] || 0) + 1;
	}
	names.push(...t.more || []);
	for (let d = 1; d < offsets.length; d++)
		offsets[d] += offsets[d - 1];

	const at = offsets.slice(), number = depth.map((d) => at[d]++);
	const moved = <T extends Uint32Array | Float64Array>(values: T): T => {
		const out = values.slice() as T;
		values.forEach((v, i) => out[number[i]] = v);
		return out;
	};
	const both = [0, 1, 2, 3].map(() => new Float64Array(WITH_CHANGES && sides ? count : 0)), side = new Digits(sides || '');
	for (let i = 0; WITH_CHANGES && sides && i < count; i++)
		for (const values of both)
			values[number[i]] = side.signed();
	const [before, after, ownBefore, ownAfter] = WITH_CHANGES && sides ? both.map((values, i) => t.scale && i % 2 === 0 ? values.map((v) => v * t.scale!) : values) : [];
	const self = names.map((_, i) => i), none = self.map(() => 0), exact = WITH_EXACT && t.exact ? new Exact(t.exact, names.length) : undefined;
	const data = new FlameData({ depths: offsets.length - 1, total: t.all, leftOut: 0, offsets: Uint32Array.from(offsets), start: moved(from),
		width: moved(wide), frame: moved(name), before, after, ownBefore, ownAfter, beyond: t.beyond, whole: WITH_EXACT && exact ? wholeOf(exact, t.unlisted || 0) : readSums(t, names.length) }, {
		exact, names, files: t.places || [''], frameName: self, frameFile: t.places ? self : none, frameLine: none,
		about: { ...ABOUT_NOTHING, reverse: t.reversed },
	});
	return { data, number, drawn };
}

const rounded = (px: number) => Math.round(px * 10) / 10;		// toFixed takes four times as long

class SvgView implements View {
	private data: FlameData;
	private zoomed = 0;
	private match: Uint8Array | null = null;
	private inverted: boolean;
	private paint: Paint | null = null;
	private painted = '';		// current colors; '' are those of the document
	private focused = -1;
	private hasTurned = false;
	private dirty = true;			// boxes, places or colors have changed
	private matchChanged = false;
	private least: number;			// boxes at least that wide are elements, in rows near the window
	private isPrinted = false;
	private near: [first: number, last: number] = [0, Infinity];	// these rows, by depth
	private drawn: [box: number, element: Element][];
	private readonly original: [box: number, element: Element][] = [];
	private readonly originalPaths: Element[];
	private readonly pointer = svg('rect', { id: 'pointer', visibility: 'hidden' });
	private readonly cursor = svg('rect', { id: 'cursor', visibility: 'hidden' });
	private width: number;
	private readonly rows: number;
	private touched = -1;
	title: (box: number) => string = () => '';
	turned: () => void = () => {};		// the root has moved

	constructor(private readonly root: SVGSVGElement, private readonly frames: SVGGElement, private readonly t: Table,
		elements: NodeListOf<Element>, private readonly base: FlameData, number: Uint32Array, drawn: number[], private readonly events: FlameEvents) {
		this.data = base;
		this.inverted = t.inverted;
		this.least = t.elementMin;
		this.width = t.width;
		this.originalPaths = [...frames.querySelectorAll('path')];
		this.rows = Math.round((t.height - t.top - t.bottom) / t.frameHeight);
		drawn.forEach((i, at) => this.original.push([number[i], elements[at]]));
		this.drawn = this.original;
		root.append(this.pointer, this.cursor);
		root.addEventListener('pointermove', (e) => this.moved(e));
		root.addEventListener('pointerleave', () => this.outline(this.pointer, -1));
		root.addEventListener('click', (e) => this.clicked(e));
	}

	setData(data: FlameData, zoomed: number): void {
		this.data = data;
		this.zoomed = zoomed;
		this.dirty = true;
	}
	setZoom(box: number): void {
		this.zoomed = box;
		this.dirty = true;
	}
	setMatch(match: Uint8Array | null): void {
		this.matchChanged ||= match !== this.match;
		this.match = match;
	}
	setInverted(inverted: boolean): void {
		this.hasTurned ||= inverted !== this.inverted;
		this.dirty ||= this.hasTurned;
		this.inverted = inverted;
	}
	setPaint(paint: Paint, name: string): void {
		this.paint = paint;
		this.dirty ||= name !== this.painted;
		this.painted = name;
	}
	setFocus(box: number): void {
		this.focused = box;
	}
	setWidth(width: number): void {
		this.dirty ||= width !== this.width;
		this.width = width;
	}
	// Creates the elements of rows that become visible; for printing, of all rows.
	look(isPrinted = this.isPrinted): void {
		const [first, last] = this.inSight(), [from, to] = this.near, changed = isPrinted !== this.isPrinted;
		this.isPrinted = isPrinted;
		if (this.isOriginal || !changed && (isPrinted || first >= from && last <= to))
			return;
		this.draw();
		this.mark();
	}
	isDrawn(box: number): boolean {
		return this.data.width[box] * this.k >= this.t.drawnMin && this.data.depthOf(box) < this.rows;
	}

	// --- Places ---

	private get inner(): number {
		return this.width - 2 * this.t.margin;
	}

	private get k(): number {
		return this.data.width[this.zoomed] > 0 ? this.inner / this.data.width[this.zoomed] : 0;
	}

	private rowTop(depth: number): number {
		const t = this.t;
		return this.inverted ? t.top + depth * t.frameHeight : t.height - t.bottom - (depth + 1) * t.frameHeight + t.gap;
	}

	private box(i: number): { x: number; y: number; width: number; height: number } {
		const d = this.data, depth = d.depthOf(i), t = this.t, left = d.start[this.zoomed], right = left + d.width[this.zoomed];
		const from = Math.max(d.start[i], left), to = Math.min(d.start[i] + d.width[i], right);
		return { x: t.margin + (from - left) * this.k, y: this.rowTop(depth), width: Math.max(0, to - from) * this.k, height: t.frameHeight - t.gap };
	}

	// The depths of the visible rows.
	private inSight(): [first: number, last: number] {
		const t = this.t, ctm = this.root.getScreenCTM()?.inverse(), at = (y: number) => new DOMPoint(0, y).matrixTransform(ctm).y;
		const [top, bottom] = ctm ? [at(0), at(innerHeight)] : [0, t.height];
		const depths = this.inverted ? [top - t.top, bottom - t.top] : [t.height - t.bottom - bottom, t.height - t.bottom - top];
		return depths.map((y) => Math.min(Math.max(Math.floor(y / t.frameHeight), 0), this.rows - 1)) as [number, number];
	}

	// The row of the zoomed box.
	row(): [top: number, isRoot: boolean, inverted: boolean] {
		return [this.rowTop(this.data.total > 0 ? this.data.depthOf(this.zoomed) : 0), this.zoomed === 0, this.inverted];
	}

	boxAt(x: number, y: number): number {
		const t = this.t, d = this.data, from = this.inverted ? y - t.top : t.height - t.bottom - y;
		if (x < t.margin || x > t.margin + this.inner || d.total <= 0)
			return -1;
		const box = d.at(Math.floor(from / t.frameHeight), d.start[this.zoomed] + (x - t.margin) / this.k);
		return box >= 0 && this.isDrawn(box) ? box : -1;
	}

	// --- Drawing ---

	private get isOriginal(): boolean {
		return this.data === this.base && this.zoomed === 0 && this.inverted === this.t.inverted && this.painted === '' && this.width === this.t.width;
	}

	flush(): void {
		if (this.dirty)
			this.draw();
		if (this.dirty || this.matchChanged)
			this.mark();
		if (this.hasTurned)
			this.turned();
		this.dirty = this.matchChanged = this.hasTurned = false;
		this.outline(this.cursor, this.focused);
		this.outline(this.pointer, -1);
		if (this.focused >= 0)
			this.cursor.scrollIntoView({ block: 'nearest', inline: 'nearest' });
	}

	// Visits boxes on top of the zoomed one, row by row, within the picture. Not all of them are wide enough to
	// be drawn.
	private eachRow(act: (low: number, high: number, depth: number) => void): void {
		const d = this.data;
		let low = this.zoomed, high = this.zoomed + 1;
		for (let depth = d.depthOf(this.zoomed); low < high && depth < this.rows; depth++) {
			act(low, high, depth);
			[low, high] = [d.firstChild[low], d.endChild[high - 1]];
		}
	}

	private isNear(depth: number): boolean {
		return depth >= this.near[0] && depth <= this.near[1];
	}

	// The smallest width of an element.
	private leastElement(): number {
		const wide: number[] = [], { width } = this.data, pixel = 1 / this.k;
		this.eachRow((low, high, depth) => {
			for (let i = low; this.isNear(depth) && i < high; i++)
				if (width[i] >= pixel)
					wide.push(width[i]);
		});
		const labeled = LABEL * this.t.characterWidth * pixel, rank = Math.min(Math.max(wide.filter((w) => w >= labeled).length, FEWEST), MOST);
		return wide.length > rank ? wide.sort((a, b) => b - a)[rank] + Number.EPSILON : pixel;
	}

	// The document's original elements are restored when they fit again. While they are present nothing is moved,
	// since the browser would have to lay out all of them again.
	private draw(): void {
		if (this.isOriginal) {
			if (this.drawn !== this.original)
				this.frames.replaceChildren(...this.originalPaths, ...this.original.map(([, g]) => g));
			this.least = this.t.elementMin;
			this.drawn = this.original;
			return;
		}
		const [first, last] = this.inSight(), more = (last - first + 1) >> 1;
		this.near = this.isPrinted ? [0, Infinity] : [first - more, last + more];
		const all = document.createDocumentFragment(), d = this.data, least = this.least = this.leastElement();
		this.drawn = [];
		if (d.total > 0) {
			all.append(...this.paths(this.narrowPaths(null), 'narrow'));
			for (let i = this.zoomed; i > 0; i = d.parent(i))
				this.drawBox(d.parent(i), all);
			this.eachRow((low, high, depth) => {
				for (let i = low; this.isNear(depth) && i < high; i++)
					if (d.width[i] >= least)
						this.drawBox(i, all);
			});
		}
		this.frames.replaceChildren(all);
	}

	private drawBox(i: number, into: Node): void {
		const b = this.box(i), text = this.label(visible(this.data.name(i)), b.width);
		const [group, link] = this.t.attributes?.[this.data.frame[i]] || [];
		const g = group || link ? parse(`<g${group}>${link && `<a${link}/>`}</g>`) : svg('g'), inner = g.firstElementChild || g;
		inner.append(svg('title', {}, this.title(i)), svg('rect', { x: b.x.toFixed(1), y: b.y, width: b.width.toFixed(1),
			height: b.height, fill: this.paint!.fill(i) }));
		if (text)
			inner.append(svg('text', { x: (b.x + 3).toFixed(2), y: b.y + b.height / 2 + 3 }, text));
		into.appendChild(g);
		this.drawn.push([i, g]);
	}

	private label(name: string, width: number): string {
		const room = Math.floor(width / this.t.characterWidth);
		if (room < LABEL || name.length <= room)
			return room < LABEL ? '' : name;
		const forms = shorterNames(name).filter(Boolean).map((form) => Array.from(form));
		return (forms.find((form) => form.length <= room) || [...forms[forms.length - 1].slice(0, room - 2), '..']).join('');
	}

	// Sets classes of existing elements: dimmed callers, matches.
	private mark(): void {
		const d = this.data, above = d.total > 0 ? d.depthOf(this.zoomed) : 0, hits = this.match;
		for (const [i, g] of this.drawn) {
			g.classList.toggle('dim', i < d.offsets[above]);
			g.classList.toggle('match', !!hits && hits[d.frame[i]] > 0);
		}
		this.frames.querySelectorAll(':scope > .matching').forEach((path) => path.remove());
		if (hits && d.total > 0)
			this.frames.append(...this.paths(this.narrowPaths(hits), 'narrow matching'));
	}

	private paths(of: Map<string, string[]>, name: string): Element[] {
		return [...of].map(([fill, pieces]) => svg('path', { class: name, fill, d: pieces.join('') }));
	}

	// Draws boxes without elements: one path per color, and one for all that are narrower than a pixel, where
	// neighbors are merged. With `hits` draws only matches, in their color.
	private narrowPaths(hits: Uint8Array | null): Map<string, string[]> {
		const paths = new Map<string, string[]>(), d = this.data, k = this.k, t = this.t, first = d.start[this.zoomed];
		const hidden = k > 0 ? t.drawnMin / k : 0;
		const down = `v${t.frameHeight - t.gap}h-`, narrow = t.narrowFill, paint = this.paint!;
		const add = (fill: string, x: number, top: number, width: number) => {
			const w = rounded(width), piece = `M${rounded(x)} ${top}h${w}${down}${w}z`, path = paths.get(fill);
			path ? path.push(piece) : paths.set(fill, [piece]);
		};
		this.eachRow((low, high, depth) => {
			const top = this.rowTop(depth), least = this.isNear(depth) ? this.least : Infinity;
			let from = 0, to = -NEAR;
			const close = () => to > from && add(hits ? paint.match : narrow, from, top, Math.max(to - from, 0.2));
			for (let i = low; i < high; i++) {
				if (d.width[i] >= least || d.width[i] < hidden || hits && hits[d.frame[i]] === 0)
					continue;
				const x = t.margin + (d.start[i] - first) * k, width = d.width[i] * k;
				if (width >= 1) {
					add(hits ? paint.match : paint.fill(i), x, top, width);
					continue;
				}
				if (x - to >= NEAR) {
					close();
					from = x;
				}
				to = x + width;
			}
			close();
		});
		return paths;
	}

	private outline(e: Element, i: number): void {
		const b = i >= 0 && i < this.data.count ? this.box(i) : null;
		e.setAttribute('visibility', b ? 'visible' : 'hidden');
		if (!b)
			return;
		e.setAttribute('x', String(b.x));
		e.setAttribute('y', String(b.y));
		e.setAttribute('width', String(Math.max(b.width, 1)));
		e.setAttribute('height', String(b.height));
	}

	// --- Pointer ---

	private position(e: MouseEvent): number {
		const target = e.target as Element, ctm = this.root.getScreenCTM();
		if (target.closest('.controls, .strip, .twin-hole') || !ctm)
			return -1;
		const p = new DOMPoint(e.clientX, e.clientY).matrixTransform(ctm.inverse());
		return this.boxAt(p.x, p.y);
	}

	private moved(e: PointerEvent): void {
		if (e.pointerType === 'touch')
			return;
		const i = this.position(e);
		this.outline(this.pointer, i);
		this.root.style.cursor = i >= 0 ? 'pointer' : '';
		this.events.hover(i, e.clientX, e.clientY);
	}

	// A finger cannot hover: its first touch describes a box, the second one on it zooms. Links of --nameattr
	// open with Ctrl, as in flamegraph.pl's pictures.
	private clicked(e: MouseEvent): void {
		const i = this.position(e), byFinger = (e as PointerEvent).pointerType === 'touch';
		if (i < 0 || e.button !== 0 || e.ctrlKey || e.metaKey)
			return;
		if ((e.target as Element).closest('a'))
			e.preventDefault();
		if (byFinger && i !== this.touched) {
			this.touched = i;
			this.events.hover(i, e.clientX, e.clientY);
			this.outline(this.pointer, i);
			return;
		}
		this.touched = -1;
		this.events.zoom(i);
	}
}

// --- The document: a bar above the picture, a table below it; both and the text at the foot stay visible ---

class Paper {
	private readonly head = svg('g', { id: 'head' });
	private readonly foot = svg('g', { id: 'foot' });
	private readonly hole: SVGForeignObjectElement;
	private readonly headStrip = svg('rect', { class: 'strip', height: 0 });
	private readonly footStrip = svg('rect', { class: 'strip', visibility: 'hidden' });
	private readonly headings: [element: Element, text: string][] = [];
	private readonly details: Element;
	private readonly matchedText: Element;
	private readonly twinHole = svg('foreignObject', { class: 'twin-hole' });
	private readonly isAlone: boolean;		// has its own window, not part of a page
	readonly bar = html('div', { class: 'controls' });
	private said = '';
	private lines = 1;
	private barHeight = 0;
	private twinHeight = 0;
	width: number;

	constructor(private readonly root: SVGSVGElement, private readonly t: Table, private readonly widened: (width: number) => void) {
		this.width = t.width;
		this.isAlone = root === document.documentElement as unknown;
		this.details = root.querySelector('#details')!;
		this.matchedText = root.querySelector('#matched')!;
		this.said = whole(this.details);
		this.details.setAttribute('aria-live', 'polite');
		this.matchedText.setAttribute('aria-live', 'polite');
		root.querySelectorAll('#title, #subtitle').forEach((e) => this.headings.push([e, whole(e)]));
		this.hole = svg('foreignObject', { x: t.margin, width: t.width - 2 * t.margin, height: 400 }, this.bar);
		if (this.isAlone && t.fluid)		// otherwise phones lay out for 980 px
			root.prepend(html('meta', { name: 'viewport', content: 'width=device-width, initial-scale=1' }));
		if (this.isAlone)
			root.style.setProperty('--ground', root.querySelector('#background stop:last-child')?.getAttribute('stop-color') || '');
		this.head.append(this.headStrip, this.hole);
		this.foot.append(this.footStrip, this.details, this.matchedText);
		root.append(this.foot, this.head);
		addEventListener('scroll', () => this.keepInSight(), { passive: true });
		addEventListener('resize', () => this.fit());
		addEventListener('beforeprint', () => this.size(0));
		addEventListener('afterprint', () => this.size(this.barHeight));
	}

	say(text: string): void {
		this.said = text;
		this.wrap();
	}

	matched(text: string, share: string): void {
		this.matchedText.textContent = text;
		this.matchedText.setAttribute('data-share', share);
		this.wrap();
	}

	// Breaks the text at the foot into lines, above the matched share if there is no room beside it.
	private wrap(): void {
		const { t } = this, room = Math.max(8, Math.floor((this.width - 2 * t.margin) / t.characterWidth)), parts: string[] = [];
		for (let at = 0; at < this.said.length; at += room)
			parts.push(this.said.slice(at, at + room));
		const share = this.matchedText.textContent!.length, last = parts.length ? parts[parts.length - 1].length : 0;
		const above = share && last + share + 2 > room ? 1 : 0, foot = t.height - t.bottom / 2;
		this.lines = Math.max(1, parts.length + above);
		this.details.replaceChildren(...parts.map((part, i) => svg('tspan', { x: t.margin, y: foot - (this.lines - 1 - i) * LINE }, part)));
		this.keepInSight();
	}

	// Uses the width of the window, unless the picture has a fixed one.
	private widen(): boolean {
		const width = this.t.fluid && this.isAlone ? Math.max(NARROWEST, this.root.clientWidth || innerWidth) : this.t.width;
		if (width === this.width)
			return false;
		this.width = width;
		this.hole.setAttribute('width', String(width - 2 * this.t.margin));
		this.matchedText.setAttribute('x', String(width - this.t.margin));
		for (const [element, text] of this.headings)
			this.cut(element as SVGTextElement, text);
		this.wrap();
		this.widened(width);
		return true;
	}

	private cut(element: SVGTextElement, text: string): void {
		element.setAttribute('x', String(this.width / 2));
		element.textContent = text;
		const length = element.getComputedTextLength(), room = this.width - 2 * this.t.margin;
		if (length <= room)
			return;
		element.textContent = `${text.slice(0, Math.max(1, Math.floor(text.length * room / length) - 1))}…`;
		element.append(svg('title', {}, text));
	}

	// The bar is above the picture, whatever its number of rows. They may cause a scroll bar, which takes some of
	// the width.
	fit(): void {
		const before = this.width;
		for (let i = 0; i < 3 && (this.widen() || i === 0); i++)
			this.fitBar();
		if (this.width === before)
			this.keepInSight();
	}

	private fitBar(): void {
		const height = this.bar.offsetHeight;
		this.barHeight = height ? height + BAR_GAP : this.barHeight;
		if (height) {
			this.hole.setAttribute('height', String(height));
			this.hole.setAttribute('y', String(-height - BAR_GAP / 2));
		}
		this.size(this.barHeight);
		this.keepInSight();
	}

	private size(above: number): void {
		const { height } = this.t, below = above ? this.twinHeight : 0;
		this.root.setAttribute('viewBox', `0 ${-above} ${this.width} ${height + above + below}`);
		this.root.setAttribute('width', String(this.width));
		this.root.setAttribute('height', String(height + above + below));
		this.root.querySelector('#paper')?.setAttribute('y', String(-above));
	}

	table(twin: HTMLElement | null): void {
		const { t } = this;
		this.twinHole.remove();
		this.twinHeight = 0;
		if (twin) {
			this.twinHole.replaceChildren(twin);
			for (const [key, value] of Object.entries({ x: t.margin, y: t.height, width: this.width - 2 * t.margin, height: TABLE_HEIGHT }))
				this.twinHole.setAttribute(key, String(value));
			this.root.insertBefore(this.twinHole, this.foot);
			const height = Math.min(TABLE_HEIGHT, twin.firstElementChild!.scrollHeight + 2 * BAR_GAP);
			this.twinHole.setAttribute('height', String(height));
			this.twinHeight = height + BAR_GAP;
		}
		this.size(this.barHeight);
		twin?.scrollIntoView({ block: 'nearest' });
		this.keepInSight();
	}

	// Scrolls to the zoomed frames, which are at the foot of a high picture.
	showRow(top: number, isRoot: boolean, inverted: boolean): void {
		const { t } = this;
		if (this.isAlone)
			scrollTo(scrollX, isRoot ? (inverted ? 0 : t.height + this.barHeight) : inverted ? top :
				top + this.barHeight + t.frameHeight + t.bottom - innerHeight);
	}

	keepInSight(): void {
		const r = this.root.getBoundingClientRect(), all = this.t.height + this.barHeight + this.twinHeight, size = r.height / all || 1;
		const up = Math.max(0, -r.top) / size, down = Math.max(0, r.bottom - innerHeight) / size, left = Math.max(0, -r.left) / size;
		const lift = Math.max(0, down - this.twinHeight), { t, lines } = this, { margin } = t, above = (lines - 1) * LINE;
		const visible = Math.min(this.width - left, Math.max(NARROWEST, (innerWidth - Math.max(0, r.left)) / size));
		this.head.setAttribute('transform', `translate(${left} ${up})`);
		this.foot.setAttribute('transform', `translate(${left} ${-lift})`);
		for (const strip of [this.headStrip, this.footStrip])
			strip.setAttribute('width', String(visible));
		this.headStrip.setAttribute('y', String(-this.barHeight));
		this.headStrip.setAttribute('height', String(this.barHeight));
		this.headStrip.setAttribute('class', up ? 'strip over' : 'strip');
		this.footStrip.setAttribute('y', String(t.height - t.bottom + 4 - above));
		this.footStrip.setAttribute('height', String(t.bottom - 4 + above));
		this.footStrip.setAttribute('visibility', lift || above ? 'visible' : 'hidden');
		this.matchedText.setAttribute('x', String(visible - margin));
		if (Number(this.hole.getAttribute('width')) !== visible - 2 * margin) {
			this.hole.setAttribute('width', String(visible - 2 * margin));
			this.fitBar();
		}
	}
}

// Links made for flamegraph.pl's script: ?x=PIXEL&y=PIXEL&s=SEARCH.
function readQuery(view: SvgView, data: FlameData): { zoom?: string[]; search?: string } {
	const query = new URLSearchParams(location.search), number = (key: string) => Number(query.get(key));
	const box = query.has('x') && query.has('y') ? view.boxAt(number('x') + 0.05, number('y') + 1) : -1;
	return { ...(box > 0 && { zoom: data.path(box) }), ...(query.get('s') && { search: query.get('s')! }) };
}

const root = (document.currentScript as SVGElement | null)?.ownerSVGElement || document.documentElement as unknown as SVGSVGElement;
const table: Table = JSON.parse(root.querySelector('#profile')!.textContent!);
const frames = root.querySelector<SVGGElement>('#frames')!;
const elements = frames.querySelectorAll(':scope > g, :scope > a'), { data, number, drawn } = readTable(table, elements);
const paper = new Paper(root, table, (width) => {
	view.setWidth(width);
	view.flush();
});
const page = new Page(table, data, { bar: paper.bar, frame: frames, say: (s) => paper.say(s), matched: (s, share) => paper.matched(s, share),
	table: (twin) => paper.table(twin), resized: () => paper.fit() });
const view = new SvgView(root, frames, table, elements, data, number, drawn, page.events());

view.title = (box) => page.title(box);
page.view = view;
frames.setAttribute('role', 'img');
frames.setAttribute('tabindex', '0');
frames.setAttribute('aria-label', `Flame graph of ${data.count - 1 + (table.beyond || 0)} frames. Arrow keys walk, Enter zooms, Escape resets; the button Table shows the same as a table.`);
const asked = readQuery(view, data), toRoot = () => {
	paper.showRow(...view.row());
	view.look();
};
view.turned = toRoot;
page.begin((state) => ({ ...state, ...asked }));
toRoot();
document.fonts?.ready.then(() => paper.fit());
addEventListener('scroll', () => view.look(), { capture: true, passive: true });		// that of a part of a page, too
addEventListener('resize', () => view.look());
onPrint((on) => view.look(on));
