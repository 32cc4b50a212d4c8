// Other graphs of the same stacks: filtered, reversed, or with widths of another meaning. Each takes a few passes
// over typed arrays without recursion; the result has the same layout as the input.

import { FlameData, type Boxes, type Values, type Whole, type Words } from './data';
import { ranks } from './names';

// Anything with stacks: boxes, or the tree from which boxes are made.
export interface Shape {
	readonly count: number;
	readonly depths: number;
	readonly offsets: Uint32Array;
	readonly parents: Uint32Array;
	readonly frame: Uint32Array;
	readonly leftOut: number;
	readonly beyond: number;
	readonly whole?: Whole;
	readonly words: Words;
}

// The self values of boxes, including callees too narrow to be a box.
export interface Own {
	width: Float64Array;
	before?: Float64Array;
	after?: Float64Array;
}

function ownOf(data: FlameData, values: Values): Float64Array {
	const own = Float64Array.from(values);
	for (let i = 1; i < data.count; i++)
		own[data.parents[i]] -= values[i];
	return values === data.before ? own.map((v, i) => Math.abs(v) < values[i] * 1e-12 ? 0 : v) : own;
}

function allOwn(data: FlameData): Own {
	return {
		width: ownOf(data, data.width),
		before: data.before && ownOf(data, data.before),
		after: data.after && ownOf(data, data.after),
	};
}

// Computes totals from self values: a box comes after its caller, so one backward pass is enough.
export function totalsOf(data: Shape, own: Float64Array): Float64Array {
	const totals = own.slice();
	for (let i = data.count - 1; i > 0; i--)
		totals[data.parents[i]] += totals[i];
	return totals;
}

// --- Filters, and the meaning of widths ---

// A filter keeps the stacks that pass through a frame with match[frame], or removes them.
export interface Filter {
	match: Uint8Array;
	keep: boolean;
}

export const MEANINGS = ['', 'after', 'before', 'maximum', 'difference'] as const;
export type Meaning = typeof MEANINGS[number];		// '': as drawn originally

function leaveOut(data: FlameData, own: Own, { match, keep }: Filter): void {
	const passed = new Uint8Array(data.count);
	for (let i = 0; i < data.count; i++) {
		passed[i] = match[data.frame[i]] || (i > 0 ? passed[data.parents[i]] : 0);
		if ((passed[i] === 1) === keep)
			continue;
		own.width[i] = 0;
		if (own.before && own.after)
			own.before[i] = own.after[i] = 0;
	}
}

export function widthsOf({ width, before, after }: Own, meaning: Meaning): Float64Array {
	if (!meaning || !before || !after)
		return width;
	return width.map((_, i) => meaning === 'after' ? after[i] : meaning === 'before' ? before[i] :
		meaning === 'maximum' ? Math.max(before[i], after[i]) : Math.abs(after[i] - before[i]));
}

// The boxes that still have a width. With `ownFirst`, children come after the caller's self value, as in SVGs; else
// before it, as in the server's data.
export function layOut(data: Shape, own: Own, widths: Float64Array, filtered: boolean, ownFirst = true): Boxes {
	const totals = totalsOf(data, widths), number = new Uint32Array(data.count);
	let count = 1;
	for (let i = 1; i < data.count; i++)
		if (totals[i] > 0)
			number[i] = count++;

	const start = new Float64Array(count), width = new Float64Array(count), frame = new Uint32Array(count);
	const next = new Float64Array(count), offsets = [0];
	for (let depth = 0; depth < data.depths; depth++) {
		let last = offsets[depth];
		for (let i = data.offsets[depth]; i < data.offsets[depth + 1]; i++) {
			if (i > 0 && totals[i] <= 0)
				continue;
			const at = number[i], parent = number[data.parents[i]];
			start[at] = i > 0 ? next[parent] : 0;
			width[at] = Math.max(0, totals[i]);
			frame[at] = data.frame[i];
			next[parent] += i > 0 ? width[at] : 0;
			next[at] = start[at] + (ownFirst ? Math.max(0, widths[i]) : 0);
			last = at + 1;
		}
		if (last === offsets[depth])
			break;
		offsets.push(last);
	}
	const kept = (values?: Float64Array) => values && values.filter((_, i) => i === 0 || totals[i] > 0);
	const sums = (values?: Float64Array) => values && kept(totalsOf(data, values));
	return {
		depths: offsets.length - 1, total: width[0], leftOut: data.leftOut, offsets: Uint32Array.from(offsets), start, width, frame,
		before: sums(own.before), after: sums(own.after), ownBefore: kept(own.before), ownAfter: kept(own.after), beyond: data.beyond,
		whole: filtered ? undefined : data.whole,
	};
}

export function derive(data: FlameData, filters: Filter[], meaning: Meaning): FlameData {
	if (!filters.length && !meaning)
		return data;
	const own = allOwn(data);
	for (const filter of filters)
		leaveOut(data, own, filter);
	return new FlameData(layOut(data, own, widthsOf(own, meaning), filters.length > 0), data.words);
}

// --- Reversed graphs ---

// Entries are stacks that are not finished: the box of the data that ended the stack, its next caller, and the box of
// the new graph to which they belong.
interface Entries {
	count: number;
	leaf: Uint32Array;
	at: Uint32Array;
	box: Uint32Array;
}

// A stable counting sort of entries by a key below `keys`.
function sortBy(from: Entries, keys: number, key: (i: number) => number): Entries {
	const place = new Uint32Array(keys + 1), n = from.count;
	for (let i = 0; i < n; i++)
		place[key(i) + 1]++;
	for (let k = 0; k < keys; k++)
		place[k + 1] += place[k];
	const to: Entries = { count: n, leaf: new Uint32Array(n), at: new Uint32Array(n), box: new Uint32Array(n) };
	for (let i = 0; i < n; i++) {
		const j = place[key(i)]++;
		to.leaf[j] = from.leaf[i];
		to.at[j] = from.at[i];
		to.box[j] = from.box[i];
	}
	return to;
}

function stacksOf(data: FlameData, own: Own): Entries {
	const leaf = new Uint32Array(data.count);
	let count = 0;
	for (let i = 1; i < data.count; i++)
		if (own.width[i] > 0)
			leaf[count++] = i;
	return { count, leaf: leaf.slice(0, count), at: leaf.slice(0, count), box: new Uint32Array(count) };
}

const BOXES_MAX = 6_000_000;

// Merges stacks from their ends. Boxes narrower than `least` of everything are omitted, with those on top of them, so
// that the cost depends on what is visible, not on the amount of data.
export function reverseTree(data: FlameData, least: number, ownFirst = true): FlameData {
	const own = allOwn(data), rank = ranks(Array.from(data.frameName, (n) => data.names[n])), min = Math.max(least * data.total, Number.MIN_VALUE);
	const start: number[] = [0], width: number[] = [data.total], frame: number[] = [data.frame[0]], offsets = [0, 1];
	const before = own.before ? [data.before![0]] : undefined, after = own.after ? [data.after![0]] : undefined;
	const next: number[] = [ownFirst ? own.width[0] : 0];
	let entries = stacksOf(data, own), leftOut = 0, low = 0;

	while (entries.count && width.length < BOXES_MAX) {
		const boxes = width.length - low, base = low, e = entries;
		const byRank = sortBy(e, rank.length, (i) => rank[data.frame[e.at[i]]]);
		const sorted = sortBy(byRank, boxes, (i) => byRank.box[i] - base);
		const going: Entries = { count: 0, leaf: sorted.leaf, at: sorted.at, box: sorted.box };
		low = width.length;

		for (let i = 0, end = 0; i < sorted.count; i = end) {
			const parent = sorted.box[i], f = data.frame[sorted.at[i]];
			let sum = 0, first = 0, second = 0, ended = 0;
			for (end = i; end < sorted.count && sorted.box[end] === parent && data.frame[sorted.at[end]] === f; end++) {
				const leaf = sorted.leaf[end];
				sum += own.width[leaf];
				first += own.before ? own.before[leaf] : 0;
				second += own.after ? own.after[leaf] : 0;
				ended += data.parents[sorted.at[end]] === 0 ? own.width[leaf] : 0;
			}
			if (sum < min) {
				leftOut++;
				continue;
			}
			const box = width.length;
			start.push(next[parent]);
			next[parent] += sum;
			next.push(start[box] + (ownFirst ? ended : 0));
			width.push(sum);
			frame.push(f);
			before?.push(first);
			after?.push(second);
			for (let k = i; k < end; k++) {
				const caller = data.parents[sorted.at[k]];
				if (caller === 0)
					continue;
				going.leaf[going.count] = sorted.leaf[k];
				going.at[going.count] = caller;
				going.box[going.count++] = box;
			}
		}
		if (width.length > low)
			offsets.push(width.length);
		entries = going;
	}
	return new FlameData({
		depths: offsets.length - 1, total: data.total, leftOut, offsets: Uint32Array.from(offsets), start: Float64Array.from(start),
		width: Float64Array.from(width), frame: Uint32Array.from(frame), before: before && Float64Array.from(before),
		after: after && Float64Array.from(after), beyond: data.beyond, whole: data.whole,
	}, { ...data.words, about: { ...data.about, reverse: !data.about.reverse } });
}
