// One function with its callers and callees: two graphs of the same stacks. Both begin with its outermost calls,
// since those include inner ones, and are as wide as its total.

import { FlameData } from './data';

// Entries are boxes of the data that belong to one box of the new graph; `of` are the outermost calls from which they
// originate.
interface Level {
	of: number[];
	at: number[];
	box: number[];
}

function outermost(data: FlameData, match: Uint8Array): number[] {
	const inside = new Uint8Array(data.count), found: number[] = [];
	for (let i = 0; i < data.count; i++) {
		const above = i > 0 && inside[data.parents[i]], hit = match[data.frame[i]] && i > 0;
		if (hit && !above)
			found.push(i);
		inside[i] = hit || above ? 1 : 0;
	}
	return found;
}

// The callers of each entry: one box up, with the width of the outermost call.
function up(data: FlameData, from: Level): Level {
	const next: Level = { of: [], at: [], box: [] };
	for (let i = 0; i < from.at.length; i++) {
		const caller = data.parents[from.at[i]];
		if (caller === 0)
			continue;
		next.of.push(from.of[i]);
		next.at.push(caller);
		next.box.push(from.box[i]);
	}
	return next;
}

// The callees of each entry, with their own widths.
function down(data: FlameData, from: Level): Level {
	const next: Level = { of: [], at: [], box: [] };
	for (let i = 0; i < from.at.length; i++)
		for (let c = data.firstChild[from.at[i]]; c < data.endChild[from.at[i]]; c++) {
			next.of.push(c);
			next.at.push(c);
			next.box.push(from.box[i]);
		}
	return next;
}

// Boxes narrower than `least` of everything are omitted, with everything on top of them.
function merge(data: FlameData, match: Uint8Array, step: (data: FlameData, from: Level) => Level, least: number): FlameData {
	const starts = outermost(data, match), { before, after } = data;
	const sum = (values: ArrayLike<number>) => starts.reduce((all, i) => all + values[i], 0);
	const total = sum(data.width), min = Math.max(total * least, Number.MIN_VALUE), name = (f: number) => data.names[data.frameName[f]];
	const start = [0], width = [total], frame = [starts.length ? data.frame[starts[0]] : data.frame[0]], offsets = [0, 1], room = [0];
	const first = before && [sum(before)], second = after && [sum(after)];
	let level: Level = { of: starts, at: starts, box: starts.map(() => 0) }, leftOut = 0;

	while ((level = step(data, level)).at.length) {
		const groups = new Map<number, Map<number, number[]>>();
		level.at.forEach((at, i) => {
			let of = groups.get(level.box[i]);
			if (!of)
				groups.set(level.box[i], of = new Map());
			const f = data.frame[at], list = of.get(f);
			if (list)
				list.push(i);
			else
				of.set(f, [i]);
		});
		const next: Level = { of: [], at: [], box: [] };
		for (const parent of [...groups.keys()].sort((a, b) => a - b)) {
			const by = groups.get(parent)!;
			for (const f of [...by.keys()].sort((a, b) => name(a) < name(b) ? -1 : name(a) > name(b) ? 1 : a - b)) {
				const entries = by.get(f)!, add = (values: ArrayLike<number>) => entries.reduce((all, i) => all + values[level.of[i]], 0);
				const wide = add(data.width), box = width.length;
				if (wide < min) {
					leftOut++;
					continue;
				}
				start.push(room[parent]);
				room[parent] += wide;
				room.push(start[box]);
				width.push(wide);
				frame.push(f);
				first?.push(add(before!));
				second?.push(add(after!));
				for (const i of entries) {
					next.of.push(level.of[i]);
					next.at.push(level.at[i]);
					next.box.push(box);
				}
			}
		}
		if (width.length > offsets[offsets.length - 1])
			offsets.push(width.length);
		level = next;
	}
	return new FlameData({
		depths: offsets.length - 1, total, leftOut, offsets: Uint32Array.from(offsets), start: Float64Array.from(start),
		width: Float64Array.from(width), frame: Uint32Array.from(frame), before: first && Float64Array.from(first),
		after: second && Float64Array.from(second),
	}, data.words);
}

const LEAST = 1e-4;

export function callersOf(data: FlameData, match: Uint8Array): FlameData {
	return merge(data, match, up, LEAST);
}

export function calleesOf(data: FlameData, match: Uint8Array): FlameData {
	return merge(data, match, down, LEAST);
}
