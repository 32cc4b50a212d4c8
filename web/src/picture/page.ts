// All interaction with a picture, independent of drawing: zoom, search, filters, undo, other ways to draw it, the
// table, keys. The picture itself is a view: elements of an SVG (svg.ts), or the canvas of the web UI (html.ts).

import { matchedRange, matchNames, nextMatch, searchBoxes, walk, zoomShowing, type FlameData, type Found } from '../flame/data';
import type { ExactTable } from '../flame/exact';
import { derive, reverseTree, type Filter, type Meaning } from '../flame/derive';
import type { Chance } from '../flame/chance';
import { differenceColor, differenceShares } from '../flame/difference';
import type { FlameEvents, Paint } from '../flame/view';
import { rgb } from './digits';
import { button, html, icon, parse } from './dom';
import { estimateTitle, matchedSign } from './estimate';
import { fromFragment, Steps, toFragment, type ColorBy, type FilterText, type State } from './state';
import { DataTable } from './data_table';
import { newTrial } from './trial';
import { amount, compile, difference, escapeRegExp, grouped, percent, type Unit } from './words';

export interface View {
	setData(data: FlameData, zoomed: number): void;
	setZoom(box: number): void;
	setMatch(match: Uint8Array | null): void;
	setInverted(inverted: boolean): void;
	setPaint(paint: Paint, name: string): void;	// the name identifies a paint; '' is that of the document
	setFocus(box: number): void;
	isDrawn?(box: number): boolean;		// whether it is visible; by default all are
	flush?(): void;			// draws what the setters have changed
}

export type Attributes = [group: string, link: string, title: string];		// markup to insert into tags

export interface About extends Unit {
	nameType: string;
	note: string;
	reversed: boolean;
	inverted: boolean;
	colorBy: ColorBy;
	self?: boolean;				// differences: State.self
	widthOf?: Meaning;			// '' by default
	chance?: Chance;		// differences of samples
	fills: Record<ColorBy, string>;		// the color of each frame, concatenated (digits.ts)
	drawnFills?: string[];			// present in the document: the fills of `colorBy` that come before them
	negate?: boolean;			// differences: the colors of more and less are swapped
	attributes?: Record<number, Attributes>;	// --nameattr, by frame
	exact?: ExactTable;			// exact values of functions if boxes are an estimate
	layers: [name: string, color: string][];
}

export interface Place {
	bar: HTMLElement;
	frame: HTMLElement | SVGElement;		// the focused element while keys walk
	say(text: string): void;
	matched(text: string, share: string): void;
	table(twin: HTMLElement | null): void;
	resized(): void;				// the bar may have a different number of rows now
}

const MATCH = '#8a2be2', MATCH_TEXT = '#ffffff';
const LEAST = 1e-5;		// inverted graphs leave out smaller shares of the total, so that millions of stacks take seconds
const COLOR_WORDS: [ColorBy, string][] = [['function', 'by function'], ['layer', 'by layer'], ['package', 'by package']];
const WIDTH_WORDS: [Meaning, string][] = [['', 'as drawn'], ['after', 'after'], ['before', 'before'], ['maximum', 'maximum'], ['difference', 'change']];

// Decodes markup that has entities but no elements.
function plainText(markup: string): string {
	return parse(`<title>${markup}</title>`).textContent!;
}

export class Page {
	private data: FlameData;
	private unreversed: FlameData;	// the same stacks; a script's reversal omits their narrowest ends
	private zoomed = 0;
	private cursor = -1;
	private found: Found | null = null;
	private wrong = false;
	private readonly trial: ReturnType<typeof newTrial>;
	private state: State;
	private readonly start: State;
	private readonly steps: Steps;
	private readonly fills: Partial<Record<ColorBy, string[]>> = {};
	private readonly isDifference: boolean;
	private readonly twin: DataTable;
	private hasTwin = false;
	private made = '';		// identifies the current `data`
	view!: View;

	private readonly undo = button(icon('undo'), 'Undo (Ctrl-Z)', () => this.steps.go(-1));
	private readonly redo = button(icon('redo'), 'Redo (Ctrl-Shift-Z)', () => this.steps.go(1));
	private readonly reset = button('Reset zoom', 'Reset zoom (Escape)', () => this.zoomTo(0));
	private readonly inverted = button('Icicle', 'Icicle: the root on top', () => this.change({ inverted: !this.state.inverted }));
	private readonly reversed = button('Reversed', 'Reversed: stacks merged from the leaf, with the callers of expensive functions',
		() => this.change({ reversed: !this.state.reversed, zoom: [] }));
	private readonly self = button('Self', 'Colors by self value, without callees',
		() => this.change({ self: !this.state.self }));
	private readonly table = button('Table', 'The same as a table', () => this.showTable(!this.hasTwin));
	private readonly input = html('input', { type: 'search', placeholder: 'Search by regexp', 'aria-label':
		'Search function names by regular expression (Ctrl-F)', title: 'Upper and lower case are equal, unless Aa is pressed', spellcheck: 'false', autocomplete: 'off' });
	private readonly matchCase = button('Aa', 'Match case (Ctrl-I)', () => this.toggleCase());
	private readonly previous = button(icon('previous'), 'Previous match (Shift-Enter)', () => this.step(-1));
	private readonly next = button(icon('next'), 'Next match (Enter)', () => this.step(1));
	private readonly keep = button('Keep', 'Keep only stacks through the matches, or the marked frame', () => this.filter(true));
	private readonly remove = button('Remove', 'Remove stacks through the matches, or the marked frame', () => this.filter(false));
	private readonly chips = html('span', { class: 'chips', role: 'group', 'aria-label': 'Filters' });
	private readonly legend = html('span', { class: 'legend' });
	private readonly color = this.select('Colors', COLOR_WORDS, (value) => this.change({ color: value }));
	private readonly width = this.select('Width', WIDTH_WORDS, (value) => this.change({ meaning: value, zoom: this.state.zoom }));

	constructor(private readonly about: About, private readonly base: FlameData, private readonly place: Place) {
		this.data = this.unreversed = base;
		this.trial = newTrial(base.names, () => {
			this.made = '';		// it may be a filter's pattern
			this.refresh();
		});
		this.isDifference = WITH_CHANGES && !!base.before;
		this.start = { zoom: [], search: '', ignoreCase: true, filters: [], reversed: about.reversed, inverted: about.inverted,
			color: about.colorBy, meaning: about.widthOf || '', self: !!about.self };
		this.state = this.start;
		this.twin = new DataTable(about, this.isDifference, (name) => this.search(name === this.exactly() ? '' : `^${escapeRegExp(name)}$`, ''));
		this.steps = new Steps((fragment) => this.open(fragment));
		this.build();
	}

	private select<T extends string>(label: string, words: [T, string][], act: (value: T) => void): HTMLSelectElement {
		const s = html('select', { 'aria-label': label, title: label }, ...words.map(([value, text]) => html('option', { value }, text)));
		s.addEventListener('change', () => act(s.value as T));
		return s;
	}

	private build(): void {
		const group = (name: string, ...of: Node[]) => html('span', { class: name }, ...of);
		this.matchCase.setAttribute('aria-label', 'Aa: match case (Ctrl-I)');
		this.input.addEventListener('input', () => this.search(this.input.value, 'search'));
		this.place.bar.setAttribute('role', 'toolbar');
		this.place.bar.setAttribute('aria-label', 'Flame graph');
		this.place.bar.append(
			group('joined', this.undo, this.redo), this.reset,
			group('joined', this.inverted, this.reversed),
			...(this.isDifference ? [this.self, this.width] : [this.color]),
			this.table, this.legend, this.chips, html('span', { class: 'space' }),
			group('find', icon('find'), this.input), this.matchCase,
			group('joined', this.previous, this.next), group('joined', this.keep, this.remove));
		window.addEventListener('keydown', (e) => this.key(e));
	}

	// --- From the state to the display ---

	// Called once there is a view. `before` may change the state from the URL.
	begin(before: (state: State) => State = (s) => s): void {
		this.state = before(fromFragment(location.hash, this.start));
		this.refresh();
	}

	events(): FlameEvents {
		return {
			zoom: (box) => {
				this.cursor = -1;
				this.zoomTo(box);
				this.place.say(this.describe(box));
			},
			hover: (box) => this.place.say(box >= 0 ? this.describe(box) : this.cursor >= 0 ? this.describe(this.cursor) : this.note()),
			focus: (box) => this.moveTo(box),
			next: (step) => this.step(step),
		};
	}

	private open(fragment: string): void {
		this.state = fromFragment(fragment, this.start);
		this.cursor = -1;
		this.refresh();
	}

	private change(part: Partial<State>, kind = ''): void {
		if (part.reversed !== undefined || part.filters || part.meaning !== undefined)
			this.cursor = -1;
		this.state = { ...this.state, ...part };
		this.steps.add(toFragment(this.state, this.start), kind);
		this.refresh();
	}

	private refresh(): void {
		const fresh = this.makeData(), zoomed = this.data.find(this.state.zoom), s = this.state;
		this.find(zoomed);
		this.view.setInverted(s.inverted);
		this.view.setPaint(this.paint(), s.color === this.start.color && s.self === this.start.self ? '' : `${s.color} ${s.self}`);
		if (fresh)
			this.view.setData(this.data, zoomed);
		else if (zoomed !== this.zoomed)
			this.view.setZoom(zoomed);
		if (this.cursor >= 0 && this.outside(this.cursor, zoomed))
			this.cursor = zoomed;
		const moved = fresh || zoomed !== this.zoomed;
		this.zoomed = zoomed;
		this.view.setMatch(this.found ? this.found.match : null);
		this.view.setFocus(this.cursor);
		this.view.flush?.();
		this.showState();
		if (this.hasTwin && moved)
			this.twin.show(this.whole(zoomed), zoomed);
	}

	private outside(box: number, zoomed: number): boolean {
		const d = this.data, end = d.start[zoomed] + d.width[zoomed];
		return d.start[box] >= end || d.start[box] + d.width[box] <= d.start[zoomed];
	}

	// Derives data when other stacks are requested. Returns true if the data has changed.
	private makeData(): boolean {
		const { filters, reversed, meaning } = this.state, key = JSON.stringify([filters, reversed, meaning]);
		if (key === this.made)
			return false;
		this.made = key;
		const given: Filter[] = [];
		for (const f of filters) {
			const pattern = compile(f.text, f.ignoreCase);
			if (pattern && this.trial(pattern))
				given.push({ match: this.matches(pattern), keep: f.keep });
		}
		this.data = this.unreversed = derive(this.base, given, meaning);
		if (reversed !== this.about.reversed)
			this.data = reverseTree(this.data, LEAST);
		return true;
	}

	private matches(pattern: RegExp): Uint8Array {
		const d = this.base, byName = matchNames(d.names, pattern);
		const match = Uint8Array.from(d.frameName, (n) => byName[n]);
		match[d.frame[0]] = 0;
		return match;
	}

	// The data with all stacks of a box.
	private whole(box: number): FlameData {
		return box === 0 ? this.unreversed : this.data;
	}

	private matchedRange(pattern: RegExp, zoomed: number): [least: number, most: number] {
		const data = this.whole(zoomed);
		return matchedRange(data, data === this.data ? this.found! : searchBoxes(data, matchNames(data.names, pattern), 0), zoomed);
	}

	private find(zoomed: number): void {
		const typed = compile(this.state.search, this.state.ignoreCase), ends = typed && this.trial(typed), pattern = ends ? typed : null;
		this.wrong = typed === undefined || ends === false;
		this.found = pattern && this.data.total > 0 ? searchBoxes(this.data, matchNames(this.data.names, pattern), zoomed) : null;
		const [least, most] = pattern && this.found ? this.matchedRange(pattern, zoomed) : [0, 0], all = this.data.width[zoomed];
		const estimated = WITH_EXACT && this.data.exact, share = this.found ? (estimated ? most : least) / all : 0;
		const sign = estimated ? matchedSign(this.whole(zoomed), zoomed, most > least) : most > least ? '≥ ' : '';
		this.place.matched(this.wrong ? ends === false ? 'Takes too long' : 'Not a regular expression' : this.found ? `Matched: ${sign}${percent(share, 1)}` : '',
			this.found ? String(share) : '');
	}

	// --- Colors ---

	private paint(): Paint {
		const d = this.data, { before, after } = d, { about, state: { color } } = this,
			fills = this.fills[color] ||= [...color === about.colorBy && about.drawnFills || [], ...rgb(about.fills[color])];
		const plain = (box: number) => fills[d.frame[box]];
		const shares = WITH_CHANGES && before && after && differenceShares(d, this.state.self, [d], about.chance);
		return { fill: shares ? (box) => this.changeColor(shares(box)) : plain, match: MATCH, matchText: MATCH_TEXT };
	}

	private changeColor(share: number): string {
		return differenceColor(this.about.negate ? -share : share);
	}

	// --- Words ---

	private note(): string {
		const turned = this.state.reversed !== this.about.reversed;
		if (this.data.total <= 0)
			return 'Nothing is left: the filters have removed every stack';
		const left = this.data.leftOut, size = turned ? 'each below 0.001% of all' : 'as they are the narrowest';
		const changed = turned || !this.isDifference && (this.zoomed > 0 || this.state.filters.length > 0);
		return [changed && this.about.note ? `Before zooming, filtering and reversing: ${this.about.note}` : this.about.note,
			left ? `${grouped(left)} frames are left out, ${size}` : '']
			.filter(Boolean).join('; ');
	}

	attributes(box: number): Attributes | undefined {
		return this.about.attributes?.[this.data.frame[box]];
	}

	title(box: number): string {
		const d = this.data, { before, after } = d;
		const given = this.attributes(box)?.[2];
		if (given)
			return plainText(given);
		if (WITH_EXACT && d.exact)
			return estimateTitle(d, d.exact, box, this.about);
		if (WITH_CHANGES && before && after)
			return `${d.name(box)} (${difference([before[box], after[box]], d.ownSides(box), [before[0], after[0]], this.about)})`;
		return `${d.name(box)} (${amount(d.width[box], this.about)}, ${box ? percent(d.width[box], d.total) : '100%'})`;
	}

	private describe(box: number): string {
		const d = this.data, own = d.self(box), place = d.place(d.frame[box]);
		let text = `${this.about.nameType} ${this.title(box)}`;
		if (!d.before && !(WITH_EXACT && d.exact) && own > 0 && own < d.width[box] && box > 0 && !this.state.reversed)
			text += `, self ${percent(own, d.total)}`;
		if (this.zoomed && box !== this.zoomed && d.width[box] < d.width[this.zoomed])
			text += `, ${percent(d.width[box], d.width[this.zoomed])} of ${d.name(this.zoomed)}`;
		return place ? `${text} — ${place}` : text;
	}

	private exactly(): string {
		const match = /^\^(.*)\$$/.exec(this.state.search);
		return match ? match[1].replace(/\\(.)/g, '$1') : '';
	}

	// --- Controls ---

	private showState(): void {
		const s = this.state, pressed = (b: HTMLElement, on: boolean) => b.setAttribute('aria-pressed', String(on));
		this.undo.disabled = !this.steps.canUndo;
		this.redo.disabled = !this.steps.canRedo;
		this.reset.hidden = this.zoomed === 0;
		pressed(this.inverted, s.inverted);
		pressed(this.reversed, s.reversed);
		pressed(this.self, s.self);
		pressed(this.matchCase, !s.ignoreCase);
		this.color.value = s.color;
		this.width.value = s.meaning;
		if (this.input.value !== s.search)
			this.input.value = s.search;
		this.input.classList.toggle('wrong', this.wrong);
		this.input.setAttribute('aria-invalid', String(this.wrong));
		this.previous.disabled = this.next.disabled = !this.found?.frames;
		this.keep.disabled = this.remove.disabled = !this.subject();
		this.chips.replaceChildren(...s.filters.map((f, i) => this.chip(f, i)));
		this.legend.replaceChildren(...this.legendItems());
		this.place.say(this.cursor >= 0 ? this.describe(this.cursor) : this.note());
		this.place.resized();
	}

	// The reason why a filter does not apply; '' if it does.
	private fault(f: FilterText): string {
		const pattern = compile(f.text, f.ignoreCase);
		return !pattern ? 'invalid: ' : this.trial(pattern) === false ? 'given up: ' : '';
	}

	private chip(f: FilterText, i: number): HTMLElement {
		const { keep, text } = f, fault = this.fault(f), words = `${fault || (keep ? 'only ' : 'without ')}${text.length > 30 ? `${text.slice(0, 29)}…` : text}`;
		return button(`${words} ×`, `Clear the filter: ${fault || (keep ? 'only stacks through ' : 'without stacks through ')}${text}`, () =>
			this.change({ filters: this.state.filters.filter((_, at) => at !== i) }));
	}

	private legendItems(): HTMLElement[] {
		const items: [string, string][] = WITH_CHANGES && this.isDifference ? [['less', this.changeColor(-1)], ['more', this.changeColor(1)]] :
			this.state.color === 'layer' ? this.about.layers.map(([name, color]) => [name, rgb(color)[0]]) : [];
		return items.map(([name, color]) => {
			const swatch = html('i', {});
			swatch.style.background = color;
			return html('span', {}, swatch, name);
		});
	}

	private showTable(on: boolean): void {
		this.hasTwin = on;
		this.table.setAttribute('aria-expanded', String(on));
		if (on)
			this.twin.show(this.whole(this.zoomed), this.zoomed);
		this.place.table(on ? this.twin.box : null);
		if (on)
			this.twin.box.focus();
	}

	// --- Input ---

	private zoomTo(box: number): void {
		if (box === this.zoomed)
			return;
		this.change({ zoom: this.data.path(box) });
	}

	private search(text: string, kind: string): void {
		this.change({ search: text }, kind);
	}

	private toggleCase(): void {
		this.change({ ignoreCase: !this.state.ignoreCase });
	}

	// The pattern that filters use: the search, or else the marked or zoomed frame.
	private subject(): string {
		if (this.state.search)
			return this.found ? this.state.search : '';
		const box = this.cursor > 0 ? this.cursor : this.zoomed;
		return box > 0 ? `^${escapeRegExp(this.data.name(box))}$` : '';
	}

	private filter(keep: boolean): void {
		const text = this.subject();
		if (!text)
			return;
		this.change({ filters: [...this.state.filters, { text, keep, ignoreCase: !!this.state.search && this.state.ignoreCase }], search: keep ? this.state.search : '' });
	}

	private step(direction: number): void {
		const box = this.found ? nextMatch(this.data, this.found, this.cursor < 0 ? this.zoomed : this.cursor, direction) : -1;
		if (box < 0)
			return;
		const to = zoomShowing(this.data, box, this.zoomed);
		if (to !== this.zoomed)
			this.zoomTo(to);
		this.moveTo(box);
	}

	private moveTo(box: number): void {
		this.cursor = box;
		this.view.setFocus(box);
		this.view.flush?.();
		this.place.say(this.describe(box));
		this.keep.disabled = this.remove.disabled = !this.subject();
	}

	private escape(): void {
		const s = this.state;
		this.cursor = -1;
		if (s.search)
			this.search('', '');
		else if (s.zoom.length)
			this.zoomTo(0);
		this.refresh();
		this.input.blur();
	}

	private key(e: KeyboardEvent): void {
		const target = e.target as Element, typing = target === this.input, elsewhere = target.localName === 'select' || !!target.closest('.twin');
		const command = (e.ctrlKey || e.metaKey) && !e.altKey, key = e.key.length === 1 ? e.key.toLowerCase() : e.key;
		if (command && key === 'f' || key === '/' && !typing) {
			this.input.focus();
			this.input.select();
		} else if (command && key === 'i') {
			this.toggleCase();
		} else if (command && !typing && (key === 'z' || key === 'y')) {
			this.steps.go(key === 'y' || e.shiftKey ? 1 : -1);
		} else if (key === 'Escape') {
			this.escape();
		} else if (key === 'F3' || typing && key === 'Enter') {
			if (key === 'F3' && !this.found)
				this.input.focus();
			this.step(e.shiftKey ? -1 : 1);
		} else if (typing || elsewhere || command || e.altKey) {
			return;
		} else if (key.startsWith('Arrow')) {
			const to = this.cursor < 0 ? this.zoomed : walk(this.data, this.cursor, this.zoomed, this.state.inverted, key);
			if (this.view.isDrawn?.(to) ?? true)
				this.moveTo(to);
		} else if (key === 'Enter' && target.localName !== 'button' && this.cursor >= 0) {
			this.zoomTo(this.cursor);
		} else if (key === 'Backspace') {
			this.zoomTo(this.data.parent(this.zoomed));
		} else if (key === 'n') {
			this.step(e.shiftKey ? -1 : 1);
		} else {
			return;
		}
		e.preventDefault();
	}
}
