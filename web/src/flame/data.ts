// A laid-out profile and queries on it. Boxes are stored in typed arrays, sorted by depth and then by start, so that
// parents and children are found by bisection and a box costs 12 or 20 bytes whatever its name is.

import type { Chance } from './chance';
import { Exact, type ExactTable } from './exact';
import { isGray } from './gray';

export interface Column {
	name: string;
	unit: string;
	total: number;
	whole?: number;			// 100 % of shares: more than the total if memory was freed
	before?: number;		// in a comparison
	given?: number;			// before scaling, in a file
}

// Graphs cannot show values below zero, so their totals differ from those of tables. Shares have the same base.
export const drawnOnly = (c?: Column): string => c && (c.whole ?? c.total) > c.total ? ' drawn' : '';

export interface QueryStats {
	samples: number;
	series: number;
	series_matched: number;
	store_from: number;
	store_to: number;
}

export interface About {
	from: number;
	to: number;
	looked: QueryStats;
	empty?: string;
	warning?: string;
	columns: Column[];
	column: number;
	period_ns: number;
	labels: Record<string, string>;
	reverse: boolean;
	estimated?: boolean;		// boxes are estimated from pairs of caller and callee
	runs?: Run[];
	charted_calls?: number;		// for a run with a flame chart
	compared?: { before: string; after: string; factor: number; chance?: Chance; scales?: string[]; before_from?: number; before_to?: number; before_labels?: string; after_labels?: string };
}

// The facts about a run beside its profile.
export interface Run {
	source: string;
	id: string;
	url: string | null;
	name: string | null;
	start: number;
	duration_ns: number;
	labels: Record<string, string>;
	totals: Record<string, number>;
	weight: number;
}

export interface ChartCall {
	number: number;			// index among the matches, from 1
	from_ns: number;
	to_ns: number;
	depth: number;			// depth of its box
}

// Matching calls.
export interface ChartSearch {
	calls: number;			// in all of the chart
	boxes: ArrayLike<number>;	// by box: the number of matching calls in it
	call?: ChartCall;		// the requested one
}

// The requested window of a flame chart, in nanoseconds since its start.
export interface ChartFacts {
	calls: number;
	left_out: number;		// for lack of memory
	start: number;			// seconds since 1970
	length_ns: number;
	from_ns: number;
	to_ns: number;
	search?: ChartSearch;
}

export const ABOUT_NOTHING: About = {
	from: 0, to: 0, looked: { samples: 0, series: 0, series_matched: 0, store_from: 0, store_to: 0 }, columns: [], column: 0,
	period_ns: 0, labels: {}, reverse: false,
};

export type Values = Uint32Array | Float64Array;

// Scaled values are kept exact for shares, and displayed as whole numbers.
export const rounded = (v: number): number => Math.sign(v) * Math.round(Math.abs(v)) || 0;

// Boxes, sorted by depth, then by start. `before` and `after` are the totals of both sides of a difference; `width`
// is drawn, and may be one of them or something else.
export interface Boxes {
	depths: number;
	total: number;
	leftOut: number;
	offsets: Uint32Array;		// index of the first box of each depth, and the count
	start: Values;
	width: Values;
	frame: Uint32Array;
	before?: Values;
	after?: Values;
	ownBefore?: Float64Array;	// the same without children, if some of these are omitted
	ownAfter?: Float64Array;
	beyond?: number;		// number of frames without a box, in data that should have all
	joined?: number;		// number of boxes too narrow to be visible, which were merged into gray ones
	whole?: Whole;
}

// The values of functions, by frame, in a profile whose boxes are an estimate or lack some frames: self and total, or
// before and after of a difference. `unlisted` is the number of functions that are not among the frames.
export interface Whole {
	first: Float64Array;
	second: Float64Array;
	unlisted: number;
}

// Converts exact values to that form.
export function wholeOf(exact: Exact, unlisted: number): Whole {
	const [one, other] = exact.sides;
	return other ? { first: one.total, second: other.total, unlisted } : { first: one.self, second: one.total, unlisted };
}

// The names of frames, and the facts about the whole.
export interface Words {
	names: string[];
	files: string[];
	frameName: number[];
	frameFile: number[];
	frameLine: number[];
	narrow?: number;		// frame of gray boxes: neighbors too narrow to see, and all on them
	about: About;
	exact?: Exact;			// boxes are an estimate; these are the known values of functions
	chart?: ChartFacts;
}

export class FlameData {
	readonly count: number;
	readonly depths: number;
	readonly total: number;
	readonly leftOut: number;
	readonly offsets: Uint32Array;
	readonly start: Values;
	readonly width: Values;
	readonly frame: Uint32Array;
	readonly before?: Values;
	readonly after?: Values;
	readonly ownBefore?: Float64Array;
	readonly ownAfter?: Float64Array;
	readonly beyond: number;
	declare readonly joined: number;	// this and the next exist only in the daemon's page, not in files
	declare readonly narrow: number;	// -1: all boxes are present
	readonly whole?: Whole;
	readonly exact?: Exact;
	readonly names: string[];
	readonly files: string[];
	readonly frameName: number[];
	readonly frameFile: number[];
	readonly frameLine: number[];
	readonly about: About;
	readonly parents: Uint32Array;
	readonly firstChild: Uint32Array;
	readonly endChild: Uint32Array;

	constructor(boxes: Boxes, readonly words: Words) {
		this.depths = boxes.depths;
		this.total = boxes.total;
		this.leftOut = boxes.leftOut;
		this.offsets = boxes.offsets;
		this.start = boxes.start;
		this.width = boxes.width;
		this.frame = boxes.frame;
		this.before = boxes.before;
		this.after = boxes.after;
		this.ownBefore = boxes.ownBefore;
		this.ownAfter = boxes.ownAfter;
		this.beyond = boxes.beyond || 0;
		if (IN_PAGE) {
			this.joined = boxes.joined || 0;
			this.narrow = words.narrow ?? -1;
		}
		this.whole = boxes.whole;
		this.names = words.names;
		this.files = words.files;
		this.frameName = words.frameName;
		this.frameFile = words.frameFile;
		this.frameLine = words.frameLine;
		this.about = words.about;
		this.exact = words.exact;

		this.count = this.frame.length;
		this.parents = new Uint32Array(this.count);
		this.firstChild = new Uint32Array(this.count);
		this.endChild = new Uint32Array(this.count);
		this.linkChildren();
	}

	// Walks each depth and the next one in parallel, in one pass.
	private linkChildren(): void {
		const { offsets, start, width } = this;
		for (let d = 0; d < this.depths; d++) {
			const end = d + 1 < this.depths ? offsets[d + 2] : offsets[d + 1];
			let c = offsets[d + 1];
			for (let i = offsets[d]; i < offsets[d + 1]; i++) {
				const right = start[i] + width[i];
				this.firstChild[i] = c;
				for (; c < end && start[c] < right; c++)
					this.parents[c] = i;
				this.endChild[i] = c;
			}
		}
	}

	// Whether sums over boxes may be incomplete.
	get isPartial(): boolean {
		return this.beyond + this.leftOut > 0;
	}

	depthOf(box: number): number {
		let low = 0, high = this.depths;
		while (high - low > 1) {
			const middle = (low + high) >> 1;
			if (this.offsets[middle] <= box)
				low = middle;
			else
				high = middle;
		}
		return low;
	}

	// The first box of a depth that ends after x, or the end of the depth.
	firstAfter(depth: number, x: number): number {
		let low = this.offsets[depth], high = this.offsets[depth + 1];
		while (low < high) {
			const middle = (low + high) >> 1;
			if (this.start[middle] + this.width[middle] <= x)
				low = middle + 1;
			else
				high = middle;
		}
		return low;
	}

	// The box of a depth that contains x, or -1.
	at(depth: number, x: number): number {
		if (depth < 0 || depth >= this.depths)
			return -1;
		const box = this.firstAfter(depth, x);
		return box < this.offsets[depth + 1] && this.start[box] <= x ? box : -1;
	}

	parent(box: number): number {
		return this.parents[box];
	}

	// A box's value without its children's.
	own(box: number, values: Values): number {
		let own = values[box];
		for (let c = this.firstChild[box]; c < this.endChild[box]; c++)
			own -= values[c];
		return values === this.before && Math.abs(own) < values[box] * 1e-12 ? 0 : own;		// scaled values are no whole numbers
	}

	self(box: number): number {
		return this.own(box, this.width);
	}

	// The self values of a box of a difference, before and after.
	ownSides(box: number): [before: number, after: number] {
		const { before, after, ownBefore, ownAfter } = this;
		return ownBefore && ownAfter ? [ownBefore[box], ownAfter[box]] : [this.own(box, before!), this.own(box, after!)];
	}

	name(box: number): string {
		return this.names[this.frameName[this.frame[box]]];
	}

	place(frame: number): string {
		const file = this.files[this.frameFile[frame]];
		return file && this.frameLine[frame] ? `${file}:${this.frameLine[frame]}` : file;
	}

	// The boxes from the one above the root down to this one.
	line(box: number): number[] {
		const line: number[] = [];
		for (; box > 0; box = this.parent(box))
			line.push(box);
		return line.reverse();
	}

	// Names of that line, as stored in links, which outlive this data. If a name alone is ambiguous, such as
	// "{main}" of two scripts, its file and line are added.
	path(box: number): string[] {
		return this.line(box).map((b) => {
			const parent = this.parent(b), name = this.name(b);
			for (let c = this.firstChild[parent]; c < this.endChild[parent]; c++)
				if (c !== b && this.name(c) === name)
					return this.fullName(b);
			return name;
		});
	}

	private fullName(box: number): string {
		return `${this.name(box)}@${this.place(this.frame[box])}`;
	}

	// The box at the end of the path, or at the last step that exists. If several boxes have the name, and only
	// one existed when the path was stored, the widest is taken, like in src/render/flame_part.c.
	find(path: string[]): number {
		let box = 0;
		for (const wanted of path) {
			let best = 0;
			for (let c = this.firstChild[box]; c < this.endChild[box]; c++)
				if ((this.name(c) === wanted || this.fullName(c) === wanted) && (!best || IN_PAGE && this.width[c] > this.width[best]))
					best = c;
			if (!best)
				break;
			box = best;
		}
		return box;
	}
}

// Reads the bytes documented in src/render/flame_data.h. `estimate` has the known values of functions, if boxes are
// an estimate.
export function readFlame(bytes: ArrayBuffer, estimate?: ExactTable): FlameData {
	const head = new DataView(bytes);
	if (bytes.byteLength < 64 || head.getUint32(0, false) !== 0x53464c4d || head.getUint32(4, true) !== 1)
		throw new Error('the server sent no flame graph');

	const count = head.getUint32(8, true), depths = head.getUint32(12, true), wide = head.getUint32(16, true) === 8;
	const isDifference = head.getUint32(36, true) === 1;
	let at = 64;
	const take = <T>(n: number, size: number, make: (at: number, n: number) => T): T => {
		const part = make(at, n);
		at += (n * size + 7) & ~7;
		return part;
	};
	const u32 = (o: number, n: number) => new Uint32Array(bytes, o, n);
	const values = (): Values => take<Values>(count, wide ? 8 : 4, wide ? (o, n) => new Float64Array(bytes, o, n) : u32);
	const boxes: Boxes = {
		depths, total: head.getFloat64(24, true), leftOut: head.getUint32(32, true), offsets: take(depths + 1, 4, u32),
		start: values(), width: values(), frame: take(count, 4, u32),
	};
	if (isDifference) {
		boxes.before = values();
		boxes.after = values();
	}
	const measured = head.getUint32(44, true) === 1 ? values() : undefined;
	const text = JSON.parse(new TextDecoder().decode(new Uint8Array(bytes, at, head.getUint32(20, true))));
	boxes.joined = head.getUint32(40, true);
	if (measured)
		boxes.before = Float64Array.from(measured, (v) => v * text.about.compared.factor);
	const exact = WITH_EXACT && estimate ? new Exact(estimate, text.frame_name.length) : undefined;
	boxes.whole = WITH_EXACT && exact ? wholeOf(exact, 0) : undefined;
	return new FlameData(boxes, { exact, names: text.names, files: text.files, frameName: text.frame_name,
		frameFile: text.frame_file, frameLine: text.frame_line, narrow: boxes.joined ? text.frame_name.length - 1 : undefined, chart: text.chart, about: text.about || { ...ABOUT_NOTHING } });
}

const SEEN = 0.005;		// share of the width: a few pixels

export interface Found {
	match: Uint8Array;	// by frame
	hits: number[];		// matching boxes, callers before callees, left to right
	sum: number;		// sum of the widths of those without a matching caller, so that nothing counts twice
	frames: number;
}

// By name: 1 where it matches.
export function matchNames(names: string[], pattern: RegExp): Uint8Array {
	return Uint8Array.from(names, (n) => pattern.test(n) ? 1 : 0);
}

// Finds all matches within one box.
export function searchBoxes(data: FlameData, byName: Uint8Array, within: number): Found {
	const match = new Uint8Array(data.frameName.length);
	let frames = 0;
	for (let f = 0; f < match.length; f++)
		frames += match[f] = f !== data.frame[0] ? byName[data.frameName[f]] : 0;

	// Depth by depth, boxes on top of a match are covered; reading the children of `within` only needs a range
	// per depth.
	const hits: number[] = [], covered = new Uint8Array(data.count);
	let sum = 0, low = within, high = within + 1;
	while (low < high) {
		for (let i = low; i < high; i++) {
			const hit = match[data.frame[i]];
			if (hit && data.width[i])
				hits.push(i);
			if (hit && !covered[i])
				sum += data.width[i];
			if (hit || covered[i])
				covered.fill(1, data.firstChild[i], data.endChild[i]);
		}
		const next = data.firstChild[low];
		high = data.endChild[high - 1];
		low = next;
	}
	hits.sort((a, b) => data.start[a] - data.start[b] || a - b);
	return { match, hits, sum, frames };
}

// The match after a box or, with a step of -1, before it, in the whole graph: callers before callees, left to right,
// wrapping around. -1: there is none.
export function nextMatch({ frame, start, width }: FlameData, { match }: Found, from: number, step: number): number {
	const order = (a: number, b: number) => start[a] - start[b] || a - b;
	const hits = [...frame.keys()].filter((i) => match[frame[i]] && width[i]);
	return hits.sort((a, b) => step * order(a, b)).find((i) => step * order(i, from) > 0) ?? hits[0] ?? -1;
}

// The zoom in which a box is wide enough to be visible: the current one, or else the one nearest to the root.
export function zoomShowing(data: FlameData, box: number, zoomed: number): number {
	const line = [0, ...data.line(box)];
	return [...line.includes(zoomed) ? [zoomed] : [], ...line].find((i) => data.width[box] >= SEEN * data.width[i])!;
}

// The smallest and largest possible share of a box that matched, which are equal unless frames lack boxes. At the
// root, values of whole functions help.
export function matchedRange(data: FlameData, { match, sum }: Found, within: number): [least: number, most: number] {
	const all = data.width[within], { whole, exact } = data;
	if (WITH_EXACT && exact && whole && within === 0 && !data.before) {
		const share = all / exact.sides[0].whole;
		return exact.matched(match).map((v) => v * share) as [number, number];
	}
	if (!data.isPartial)
		return [sum, sum];
	if (within > 0 || !whole || data.before)
		return [sum, all];
	let least = sum, most = whole.unlisted ? all : sum;
	const totals = new Map(functionRows(data, 0).map((row) => [row.frame, row.total]));
	for (let f = 0; f < match.length; f++)
		if (match[f]) {
			least = Math.max(least, whole.second[f]);
			most += whole.second[f] - (totals.get(f) || 0);
		}
	return [least, Math.max(least, Math.min(most, all))];
}

export interface Row {
	frame: number;
	name: string;
	self: number;
	total: number;
}

// One row per function, for everything on top of one box. In totals, a recursive function counts once per stack.
// `values` are totals by box, by default those drawn.
export function functionRows(data: FlameData, within: number, values: Values = data.width): Row[] {
	const frames = data.frameName.length, reverse = data.about.reverse, root = data.frame[0];
	const self = new Float64Array(frames), total = new Float64Array(frames), open = new Uint32Array(frames);
	const seen = new Uint8Array(frames), path = new Uint32Array(data.depths + 1), next = new Uint32Array(data.depths + 1);
	let top = -1;

	const enter = (box: number) => {
		const f = data.frame[box];
		seen[f] = 1;
		if (open[f]++ === 0)
			total[f] += values[box];
		if (!reverse)
			self[f] += data.own(box, values);
		path[++top] = box;
		next[top] = data.firstChild[box];
	};
	enter(within);
	while (top >= 0) {
		if (next[top] < data.endChild[path[top]])
			enter(next[top]++);
		else
			open[data.frame[path[top--]]]--;
	}
	// In a reversed graph, the boxes above the root are the leaves.
	if (reverse) {
		if (within === 0)
			for (let c = data.firstChild[0]; c < data.endChild[0]; c++)
				self[data.frame[c]] += values[c];
		else
			self[data.frame[data.line(within)[0]]] += values[within];
	}

	const rows: Row[] = [];
	for (let f = 0; f < frames; f++)
		if (seen[f] && f !== root)
			rows.push({ frame: f, name: data.names[data.frameName[f]], self: self[f], total: total[f] });
	return rows;
}

// Follows the hot path.
function widestChild(data: FlameData, box: number): number {
	let best = 0;
	for (let c = data.firstChild[box]; c < data.endChild[box]; c++)
		if ((!best || data.width[c] > data.width[best]) && !isGray(data, c))
			best = c;
	return best || box;
}

// The destination of an arrow key: the widest callee, the caller, or a sibling. From above the zoomed box, every key
// leads to it.
export function walk(data: FlameData, from: number, zoomed: number, inverted: boolean, key: string): number {
	const outwards = key === (inverted ? 'ArrowDown' : 'ArrowUp');
	if (outwards) {
		const line = data.line(zoomed), at = from === 0 ? 0 : line.indexOf(from) + 1;
		return (from === 0 || at > 0) && at < line.length ? line[at] : widestChild(data, from);
	}
	const parent = data.parent(from);
	if (key === 'ArrowUp' || key === 'ArrowDown')
		return parent;
	const next = from + (key === 'ArrowRight' ? 1 : -1);
	return from > 0 && next >= data.firstChild[parent] && next < data.endChild[parent] ? next : from;
}
