// The tree of a profile with self values in all columns, from which graphs and tables of any column are computed.
// Nodes are sorted by depth, then by parent, then by name, so that children of a node are adjacent.

import { ABOUT_NOTHING, FlameData, type About, type Values, type Words } from '../flame/data';
import { layOut, totalsOf, widthsOf, type Filter, type Meaning, type Own, type Shape } from '../flame/derive';
import { ranks } from '../flame/names';

type Own1 = Int32Array | Float64Array;

export class Tree implements Shape {
	readonly count: number;
	readonly parents: Uint32Array;
	readonly firstChild: Uint32Array;	// one more element than nodes: the end
	readonly beyond = 0;

	constructor(readonly depths: number, readonly offsets: Uint32Array, readonly children: Uint32Array, readonly frame: Uint32Array,
		readonly own: Own1[], readonly words: Words, readonly leftOut: number) {
		this.count = frame.length;
		this.parents = new Uint32Array(this.count);
		this.firstChild = new Uint32Array(this.count + 1);
		for (let i = 0, at = 1; i <= this.count; i++) {
			this.firstChild[i] = at;
			for (let c = 0; i < this.count && c < children[i]; c++)
				this.parents[at++] = i;
		}
	}

	name(frame: number): string {
		return this.words.names[this.words.frameName[frame]];
	}

	file(frame: number): string {
		return this.words.files[this.words.frameFile[frame]] || '';
	}

	sum(column: number, onlyPositive: boolean): number {
		let sum = 0;
		for (const v of this.own[column])
			sum += onlyPositive ? Math.max(0, v) : v;
		return sum;
	}

	get rootFrame(): number {
		return this.frame[0];
	}
}

// Reads the bytes documented in src/render/flame_data.h. Values are multiplied by `factor`.
export function readTree(bytes: ArrayBuffer, factor: number): Tree {
	const head = new DataView(bytes);
	if (bytes.byteLength < 64 || head.getUint32(0, false) !== 0x53545245 || head.getUint32(4, true) !== 1)
		throw new Error('the data in this file is damaged');
	const count = head.getUint32(8, true), depths = head.getUint32(12, true), columns = head.getUint32(16, true);
	let at = 64;
	const take = (n: number, size: number): number => {
		const here = at;
		at += (n * size + 7) & ~7;
		return here;
	};
	const u32 = (n: number) => new Uint32Array(bytes, take(n, 4), n);
	const sizes = u32(columns), offsets = u32(depths + 1), children = u32(count), frame = u32(count), own: Own1[] = [];
	for (const size of sizes) {
		const here = take(count, size), values = size === 8 ? new Float64Array(bytes, here, count) : new Int32Array(bytes, here, count);
		own.push(factor === 1 ? values : Float64Array.from(values, (v) => v * factor));
	}
	const text = JSON.parse(new TextDecoder().decode(new Uint8Array(bytes, at, head.getUint32(20, true))));
	const words: Words = { names: text.names, files: text.files, frameName: text.frame_name, frameFile: text.frame_file,
		frameLine: text.frame_line, about: ABOUT_NOTHING };
	return new Tree(depths, offsets, children, frame, own, words, head.getUint32(24, true));
}

// --- Other trees ---

// Returns the values of stacks that pass the filters; the nodes stay.
export function filtered(t: Tree, filters: Filter[]): Tree {
	const out = new Uint8Array(t.count);
	for (const { match, keep } of filters) {
		const passed = new Uint8Array(t.count);
		for (let i = 0; i < t.count; i++) {
			passed[i] = match[t.frame[i]] || (i > 0 ? passed[t.parents[i]] : 0);
			if ((passed[i] === 1) !== keep)
				out[i] = 1;
		}
	}
	const own = t.own.map((values) => values.map((v, i) => out[i] ? 0 : v) as Own1);
	return new Tree(t.depths, t.offsets, t.children, t.frame, own, t.words, t.leftOut);
}

// Sorts nodes by keys below `keys`, stably.
function sorted(nodes: Uint32Array, keys: number, key: (node: number) => number): Uint32Array {
	const place = new Uint32Array(keys + 1), to = new Uint32Array(nodes.length);
	for (const n of nodes)
		place[key(n) + 1]++;
	for (let k = 0; k < keys; k++)
		place[k + 1] += place[k];
	for (const n of nodes)
		to[place[key(n)]++] = n;
	return to;
}

// Makes a tree of nodes in the order of creation, parents first.
function grown(parents: number[], frames: number[], own: Float64Array[], words: Words, leftOut: number): Tree {
	const n = frames.length, rank = ranks(Array.from(words.frameName, (n) => words.names[n])), all = Uint32Array.from({ length: n - 1 }, (_, i) => i + 1);
	const byParent = sorted(sorted(all, rank.length, (i) => rank[frames[i]]), n, (i) => parents[i]), count = new Uint32Array(n);
	for (const i of byParent)
		count[parents[i]]++;
	const first = new Uint32Array(n + 1), order = new Uint32Array(n), offsets = [0];
	for (let i = 0; i < n; i++)
		first[i + 1] = first[i] + count[i];
	for (let i = 0, end = 1, filled = 1; i < n; i++) {
		if (i === end) {
			offsets.push(i);
			end = filled;
		}
		for (let c = first[order[i]]; c < first[order[i] + 1]; c++)
			order[filled++] = byParent[c];
	}
	offsets.push(n);
	return new Tree(offsets.length - 1, Uint32Array.from(offsets), order.map((i) => count[i]), order.map((i) => frames[i]),
		own.map((values) => Float64Array.from(order, (i) => values[i])), words, leftOut);
}

// Replaces frames in all stacks: of[frame] is the new one, or -1 if it counts as its caller. The root's frame has no
// entry.
export function regrouped(t: Tree, of: ArrayLike<number>, words: Words, other = -1): Tree {
	const root = words.frameName.length - 1, node = new Uint32Array(t.count), known = new Map<number, number>();
	const parents = [0], frames = [root];
	let rest = 0;
	for (let i = 1; i < t.count; i++) {
		const parent = node[t.parents[i]], f = of[t.frame[i]], key = parent * (root + 1) + f;
		let to = f < 0 ? parent : known.get(key);
		if (to === undefined) {
			known.set(key, to = frames.length);
			parents.push(parent);
			frames.push(f);
		}
		node[i] = to;
		if (!to && other >= 0 && !rest && t.own.some((values) => values[i])) {
			rest = frames.length;
			parents.push(0);
			frames.push(other);
		}
	}
	const own = t.own.map((values) => {
		const sums = new Float64Array(frames.length);
		for (let i = 0; i < t.count; i++)
			sums[node[i] || (i ? rest : 0)] += values[i];
		return sums;
	});
	return grown(parents, frames, own, words, t.leftOut);
}

// --- Boxes ---

// Negative values, such as freed memory, have no width.
function positive(values: Own1): Float64Array {
	const out = new Float64Array(values);
	for (let i = 0; i < out.length; i++)
		if (out[i] < 0)
			out[i] = 0;
	return out;
}

// The values of one column, or of two sides. `exact` has those of the first side without rounding.
export function boxesOf(t: Tree, columns: number[], meaning: Meaning, about: About, least: number, exact?: Float64Array): FlameData {
	const words = { ...t.words, about };
	let own: Own = { width: positive(t.own[columns[0]]) };
	if (columns.length === 2) {
		const [before, after] = columns.map((c) => positive(t.own[c]));
		own = { width: before.map((v, i) => Math.max(v, after[i])), before: exact ? positive(exact) : before, after };
	}
	const d = layOut(t, own, widthsOf(own, meaning), false, false);
	return new FlameData({ ...d, total: Math.max(d.total, least), width: wider(d.width, least) }, words);
}

function wider(width: Values, least: number): Values {
	if (least > width[0])
		width[0] = least;
	return width;
}

// --- Functions ---

export interface Sums {
	self: Float64Array[];		// by column, then by frame
	total: Float64Array[];
	seen: Uint8Array;
}

// Walks all stacks; `enter` is told whether the frame is already on the stack.
function walkStacks(t: Tree, enter: (node: number, again: boolean) => void, leave?: (node: number) => void): void {
	const open = new Uint32Array(t.words.frameName.length), path = new Uint32Array(t.depths + 1), next = new Uint32Array(t.depths + 1);
	let top = 0;
	next[0] = t.firstChild[0];
	while (top >= 0) {
		const node = path[top];
		if (next[top] < t.firstChild[node + 1]) {
			const child = next[top]++;
			enter(child, open[t.frame[child]]++ > 0);
			path[++top] = child;
			next[top] = t.firstChild[child];
		} else {
			open[t.frame[node]] -= top > 0 ? 1 : 0;
			if (top > 0)
				leave?.(node);
			top--;
		}
	}
}

// Recursion counts once per stack. Calls have no inclusive totals.
export function sumsOf(t: Tree, calls: number[]): Sums {
	const frames = t.words.frameName.length, totals = t.own.map((values) => totalsOf(t, Float64Array.from(values)));
	const sums: Sums = { self: t.own.map(() => new Float64Array(frames)), total: t.own.map(() => new Float64Array(frames)), seen: new Uint8Array(frames) };
	walkStacks(t, (node, again) => {
		const f = t.frame[node];
		for (let c = 0; c < t.own.length; c++) {
			sums.self[c][f] += t.own[c][node];
			if (!again)
				sums.total[c][f] += totals[c][node];
			if (totals[c][node])
				sums.seen[f] = 1;
		}
	});
	for (const c of calls)
		sums.total[c] = sums.self[c];
	return sums;
}

export interface Arrow {
	from: number;
	to: number;
	values: number[];		// by column
}

// Edges between some frames, with the time between them; an edge counts once per stack, except its calls, which all
// count.
export function arrowsOf(t: Tree, columns: number[], wanted: Uint8Array, calls: number[]): Arrow[] {
	const totals = columns.map((c) => calls.includes(c) ? t.own[c] : totalsOf(t, Float64Array.from(t.own[c]))), frames = t.words.frameName.length;
	const arrows = new Map<number, Arrow & { open: number }>(), between = (node: number) => {
		const parent = t.parents[node];
		return parent > 0 && wanted[t.frame[node]] && wanted[t.frame[parent]] ? t.frame[parent] * frames + t.frame[node] : -1;
	};
	walkStacks(t, (node) => {
		const key = between(node);
		if (key < 0)
			return;
		let arrow = arrows.get(key);
		if (!arrow)
			arrows.set(key, arrow = { from: t.frame[t.parents[node]], to: t.frame[node], values: columns.map(() => 0), open: 0 });
		const first = arrow.open++ === 0;
		totals.forEach((values, i) => arrow.values[i] += first || calls.includes(columns[i]) ? values[node] : 0);
	}, (node) => {
		const arrow = arrows.get(between(node));
		if (arrow)
			arrow.open--;
	});
	return [...arrows.values()];
}

// --- Callers and callees ---

const OUTSIDE = -1, ITSELF = -2;
export const ROOT = -3;

export interface Neighbors {
	self: number[];
	total: number[];
	again: number[];
	edges: Map<number, number[]>;	// by frame, or ROOT
}

// The same rules as src/report/edges.c: a value belongs to the caller of the outermost call, or to what the innermost one called. In
// columns that count calls, each call belongs to one edge. Only nodes with a value in `columns` make edges.
export function neighbors(t: Tree, of: Uint8Array, callers: boolean, columns: number[], calls: number[]): Neighbors {
	const zero = () => t.own.map(() => 0), r: Neighbors = { self: zero(), total: zero(), again: zero(), edges: new Map() };
	const to = new Int32Array(t.count).fill(OUTSIDE), times = new Uint8Array(t.count), summed = t.own.map((_, c) => c).filter((c) => !calls.includes(c));
	const callerOf = (node: number) => t.parents[node] === 0 ? ROOT : t.frame[t.parents[node]];
	const edge = (frame: number) => {
		let values = r.edges.get(frame);
		if (!values)
			r.edges.set(frame, values = zero());
		return values;
	};
	const add = (sums: number[], node: number) => {
		for (const c of summed)
			sums[c] += t.own[c][node];
	};
	const addCall = (node: number, c: number, count: number) => {
		const inside = of[t.frame[node]] === 1, caller = callerOf(node);
		if (inside)
			r.self[c] += count;
		if (callers && inside)
			edge(caller)[c] += count;
		if (!callers && caller !== ROOT && of[caller])
			edge(t.frame[node])[c] += count;
	};
	for (let n = 1; n < t.count; n++) {
		const parent = t.parents[n], above = to[parent], inside = of[t.frame[n]] === 1;
		if (callers)
			to[n] = above === OUTSIDE && inside ? callerOf(n) : above;
		else
			to[n] = inside ? ITSELF : above === ITSELF ? t.frame[n] : above;
		times[n] = Math.min(2, times[parent] + (inside ? 1 : 0));
		if (times[n] === 2)
			add(r.again, n);
		if (to[n] !== OUTSIDE && columns.some((c) => t.own[c][n])) {
			add(r.total, n);
			if (inside)
				add(r.self, n);
			if (to[n] !== ITSELF)
				add(edge(to[n]), n);
		}
		for (const c of calls)
			if (t.own[c][n])
				addCall(n, c, t.own[c][n]);
	}
	for (const c of calls)
		r.total[c] = r.self[c];
	return r;
}
