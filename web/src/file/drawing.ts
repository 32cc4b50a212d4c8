// A call graph as the SVG that Graphviz would make of it (src/render/callgraph.c): boxes in layers below their callers, arrows between.
//
// A layer is the length of the longest path from a function without callers, with back edges reversed; the order
// within a layer is by the mean position of neighbors, in a few sweeps down and up.

import { isSure, type Chance } from '../flame/chance';
import { differenceColor, shareOf } from '../flame/difference';
import * as format from '../format';

export interface GraphNode {
	name: string;
	place: string;		// file and line, if known
	self: number;
	total: number;
	selfBefore: number;
	totalBefore: number;
	atMost?: boolean;
	isCritical?: boolean;
}

export interface GraphArrow {
	from: number;
	to: number;
	value: number;
	before: number;
	isCritical?: boolean;
}

export interface CallGraphData {
	unit: string;
	whole: number;
	isCalls: boolean;
	isDifference: boolean;
	chance?: Chance;
	estimated: boolean;
	nodes: GraphNode[];
	arrows: GraphArrow[];
}

// A box, or a point on a long arrow.
interface Item {
	node: number;		// -1: a point
	layer: number;
	width: number;
	height: number;
	x: number;		// its middle
	y: number;		// its upper edge
}

interface Link {
	from: number;
	to: number;
}

const MOST_ARROWS = 240, GAP_X = 18, GAP_Y = 46, LINE = 13, CHARACTERS = 36, SWEEPS = 12, SIDE = 10;

const escaped = (text: string) => text.replace(/[\u0000-\u0008\u000b\u000c\u000e-\u001f\ufffe\uffff]/g, '\ufffd')
	.replace(/[&<>"\n]/g, (c) => `&#${c.charCodeAt(0)};`);
const weight = (a: GraphArrow) => Math.max(Math.abs(a.value), Math.abs(a.before));
const heavy = (n: GraphNode) => Math.max(...[n.total, n.self, n.totalBefore, n.selfBefore].map(Math.abs));

// Splits a name into up to three lines, after a \ or / or before ::.
function lines(name: string): string[] {
	const all: string[] = [];
	for (let rest = name || '[no name]'; rest;) {
		let end = rest.length;
		if (end > CHARACTERS) {
			const part = rest.slice(0, CHARACTERS), behind = (separator: RegExp) => separator.exec(part)?.[0].length ?? 0;
			end = Math.max(behind(/.*[\\/]/), part.lastIndexOf('::'), 0) || behind(/.*[-_(){}; ]/) || CHARACTERS;
		}
		if (all.length === 2 && end < rest.length) {
			const last = rest.slice(1 - CHARACTERS);
			all.push(`…${/[\\/].+|::.+/.exec(last)?.[0] ?? last}`);
			break;
		}
		all.push(rest.slice(0, end));
		rest = rest.slice(end);
	}
	return all;
}

// "495 → 900 (+405)", "495 → 0 (gone)"
function change(g: CallGraphData, before: number, now: number, sign = ''): string {
	const delta = now - before, how = !delta ? '' : !before ? ' (new)' : !now ? ' (gone)' : ` (${format.change(delta, g.unit)})`;
	return `${sign}${format.value(before, g.unit)} → ${sign}${format.value(now, g.unit)}${how}`;
}

function words(g: CallGraphData, n: GraphNode): string[] {
	const sign = n.atMost ? '≤' : '', one = (what: string, before: number, now: number, sign = '') =>
		`${what} ${g.isDifference ? change(g, before, now, sign) : `${sign}${format.value(now, g.unit)} (${sign}${format.share(now, g.whole)})`}`;
	if (g.isCalls)
		return [...lines(n.name), one('called', n.selfBefore, n.self)];
	return [...lines(n.name), ...g.isDifference && !n.self && !n.selfBefore ? [] : [one('self', n.selfBefore, n.self)], one('total', n.totalBefore, n.total, sign)];
}

// Arrows to draw: those above the threshold, and the heaviest one to each function.
function pruned(g: CallGraphData, threshold: number): GraphArrow[] {
	const heaviest = new Map<number, GraphArrow>();
	for (const a of g.arrows)
		if (a.from !== a.to && (!heaviest.has(a.to) || weight(a) > weight(heaviest.get(a.to)!)))
			heaviest.set(a.to, a);
	return g.arrows.filter((a) => weight(a) > 0 || heaviest.get(a.to) === a).sort((a, b) => weight(b) - weight(a) || a.from - b.from || a.to - b.to)
		.filter((a, i) => heaviest.get(a.to) === a || a.isCritical || i < MOST_ARROWS && weight(a) >= threshold * g.whole);
}

// By arrow: whether it is a back edge. Heavy arrows are visited first, without recursion.
function backwards(count: number, arrows: GraphArrow[]): boolean[] {
	const out: number[][] = Array.from({ length: count }, () => []), state = new Uint8Array(count), back = arrows.map((a) => a.from === a.to), called = new Uint8Array(count);
	arrows.forEach((a, i) => {
		if (a.from === a.to)
			return;
		out[a.from].push(i);
		called[a.to] = 1;
	});
	const starts = [...out.keys()].sort((a, b) => called[a] - called[b] || a - b);
	for (const start of starts) {
		const path = state[start] ? [] : [start], next = [0];
		state[start] ||= 1;
		while (path.length) {
			const at = path[path.length - 1], i = out[at][next[next.length - 1]++];
			if (i === undefined) {
				state[path.pop()!] = 2;
				next.pop();
			} else if (state[arrows[i].to] === 1) {
				back[i] = true;
			} else if (state[arrows[i].to] === 0) {
				state[arrows[i].to] = 1;
				path.push(arrows[i].to);
				next.push(0);
			}
		}
	}
	return back;
}

function layersOf(count: number, arrows: GraphArrow[], back: boolean[]): number[] {
	const layer = new Array<number>(count).fill(0), waits = new Array<number>(count).fill(0), out: number[][] = Array.from({ length: count }, () => []);
	arrows.forEach((a, i) => {
		if (a.from === a.to)
			return;
		const [from, to] = back[i] ? [a.to, a.from] : [a.from, a.to];
		out[from].push(to);
		waits[to]++;
	});
	const ready = [...waits.keys()].filter((n) => !waits[n]);
	for (let n = ready.pop(); n !== undefined; n = ready.pop())
		for (const to of out[n]) {
			layer[to] = Math.max(layer[to], layer[n] + 1);
			if (!--waits[to])
				ready.push(to);
		}
	return layer;
}

function ordered(items: Item[], links: Link[]): number[][] {
	const rows: number[][] = [], above: number[][] = items.map(() => []), below: number[][] = items.map(() => []), place = new Float64Array(items.length);
	items.forEach((item, i) => (rows[item.layer] ||= []).push(i));
	for (const { from, to } of links) {
		below[from].push(to);
		above[to].push(from);
	}
	const number = (row: number[]) => row.forEach((i, n) => place[i] = n / row.length);
	rows.forEach(number);
	for (let sweep = 0; sweep < SWEEPS; sweep++) {
		const near = sweep % 2 ? below : above;
		for (const row of sweep % 2 ? [...rows].reverse() : rows) {
			const mean = new Map(row.map((i) => [i, near[i].length ? near[i].reduce((sum, j) => sum + place[j], 0) / near[i].length : place[i]]));
			row.sort((a, b) => mean.get(a)! - mean.get(b)! || place[a] - place[b]);
			number(row);
		}
	}
	return rows;
}

// Moves each item as close to its neighbors as the others in its layer allow.
function place(items: Item[], links: Link[], rows: number[][]): void {
	const near: number[][] = items.map(() => []);
	for (const { from, to } of links) {
		near[from].push(to);
		near[to].push(from);
	}
	const spread = (row: number[], wanted: (i: number) => number) => {
		// Left to right, each item gets room; then the whole row is moved to the mean of the wanted
		// positions.
		let right = -Infinity, shift = 0;
		for (const i of row) {
			items[i].x = Math.max(wanted(i), right + items[i].width / 2);
			right = items[i].x + items[i].width / 2 + GAP_X;
		}
		for (const i of row)
			shift += (wanted(i) - items[i].x) / row.length;
		for (const i of row)
			items[i].x += shift;
	};
	let y = 0;
	for (const row of rows) {
		const height = Math.max(...row.map((i) => items[i].height));
		let x = 0;
		for (const i of row) {
			items[i].x = x + items[i].width / 2;
			items[i].y = y + (height - items[i].height) / 2;
			x += items[i].width + GAP_X;
		}
		for (const i of row)
			items[i].x -= x / 2;
		y += height + GAP_Y;
	}
	for (let sweep = 0; sweep < SWEEPS; sweep++)
		for (const row of sweep % 2 ? [...rows].reverse() : rows) {
			const wanted = new Map(row.map((i) => [i, near[i].length ? near[i].reduce((sum, j) => sum + items[j].x, 0) / near[i].length : items[i].x]));
			spread(row, (i) => wanted.get(i)!);
		}
}

// Marks the path along the heaviest arrows from the heaviest function.
function markCritical(g: CallGraphData, arrows: GraphArrow[]): Set<number> {
	const called = new Set(arrows.filter((a) => a.from !== a.to).map((a) => a.to)), nodes = new Set<number>(), out: GraphArrow[][] = g.nodes.map(() => []);
	for (const a of arrows)
		out[a.from].push(a);
	const roots = [...g.nodes.keys()].filter((n) => !called.has(n)), from = (roots.length ? roots : [...g.nodes.keys()]).sort((a, b) => heavy(g.nodes[b]) - heavy(g.nodes[a]))[0];
	for (let at: number | undefined = from; at !== undefined && !nodes.has(at);) {
		nodes.add(at);
		g.nodes[at].isCritical = true;
		const next: GraphArrow | undefined = out[at].find((a) => !nodes.has(a.to));
		if (next)
			next.isCritical = true;
		at = next?.to;
	}
	return nodes;
}

// Limits the graph to a number of functions: the critical path from its top, and then the heaviest. `g` is sorted by
// weight.
export function limited(g: CallGraphData, threshold: number, most: number): CallGraphData {
	const path = [...markCritical(g, pruned(g, threshold))].slice(0, most), onPath = new Set(path);
	const others = [...g.nodes.keys()].filter((i) => !onPath.has(i)).slice(0, most - path.length), kept = [...path, ...others].sort((a, b) => a - b);
	const at = new Map(kept.map((i, n) => [i, n]));
	return { ...g, nodes: kept.map((i) => g.nodes[i]), arrows: g.arrows.filter((a) => at.has(a.from) && at.has(a.to)).map((a) => ({ ...a, from: at.get(a.from)!, to: at.get(a.to)! })) };
}

// --- The picture ---

const fixed = (v: number) => v.toFixed(1);

function boxColor(g: CallGraphData, n: GraphNode, most: number): string {
	if (g.isDifference)
		return differenceColor(shareOf(n.total - n.totalBefore, most, isSure(g.chance, n.totalBefore, n.total), !!g.chance));
	const k = g.whole ? Math.min(1, n.self / g.whole) ** 0.5 : 0, mix = (a: number, b: number) => Math.round(a + (b - a) * k);
	return `rgb(${mix(255, 245)},${mix(250, 140)},${mix(242, 90)})`;
}

function boxText(g: CallGraphData, n: GraphNode, item: Item, isCritical: boolean, most: number): string {
	const text = words(g, n), left = item.x - item.width / 2, gone = g.isDifference && !n.total && n.totalBefore;
	return `<g class="node${isCritical ? ' critical' : ''}"><g><a xlink:title="${escaped(n.place ? `${n.name}\n${n.place}` : n.name)}">` +
		`<path d="M${fixed(left + 6)},${fixed(item.y)}h${fixed(item.width - 12)}q6,0 6,6v${fixed(item.height - 12)}q0,6 -6,6h${fixed(12 - item.width)}q-6,0 -6,-6v${fixed(12 - item.height)}q0,-6 6,-6z" ` +
		`fill="${boxColor(g, n, most)}" stroke="${isCritical ? g.isDifference ? '#222222' : '#1f4e9e' : '#777777'}"${isCritical ? ' stroke-width="2.5"' : ''}${gone ? ' stroke-dasharray="5,2"' : ''}/>` +
		text.map((line, i) => `<text text-anchor="middle" x="${fixed(item.x)}" y="${fixed(item.y + LINE * (i + 1) + 2)}" font-size="10.5" fill="#000">${escaped(line)}</text>`).join('') +
		'</a></g></g>';
}

// Labels beside arrows do not overlap: they are moved up or down a little, or left to the tooltip.
class Room {
	private readonly taken: { x: number; y: number; right: number }[] = [];

	place(x: number, y: number, text: string): number | null {
		const right = x + text.length * 5.6;
		for (const by of [0, 11, -11]) {
			const isFree = this.taken.every((t) => Math.abs(t.y - y - by) >= 11 || t.right <= x || right <= t.x);
			if (isFree) {
				this.taken.push({ x, y: y + by, right });
				return y + by;
			}
		}
		return null;
	}
}

function arrowText(g: CallGraphData, a: GraphArrow, points: [number, number][], isCritical: boolean, most: number, room: Room): string {
	const share = g.whole ? Math.min(1, weight(a) / g.whole) : 0, delta = a.value - a.before, changed = g.isDifference && delta !== 0 && isSure(g.chance, a.before, a.value);
	const color = changed ? (delta > 0 ? '#c04f00' : '#1f628f') : isCritical && !g.isDifference ? '#1f4e9e' : '#777777', wide = fixed(0.8 + 3.6 * share * (changed && most ? Math.abs(delta) / most : 1));
	const says = g.isDifference ? change(g, a.before, a.value) : `${format.value(a.value, g.unit)} (${format.share(a.value, g.whole)})`;
	let d = `M${points[0].map(fixed).join()}`;
	for (let i = 1; i < points.length; i++) {
		const [x0, y0] = points[i - 1], [x, y] = points[i], bend = (y - y0) / 2;
		d += `C${fixed(x0)},${fixed(y0 + bend)} ${fixed(x)},${fixed(y - bend)} ${fixed(x)},${fixed(y)}`;
	}
	const [x, y] = points[points.length - 1], up = y < points[points.length - 2][1] ? 1 : -1;
	const [mx, my] = points.length > 2 ? points[1] : [(points[0][0] + x) / 2, (points[0][1] + y) / 2];
	const textY = share >= 0.02 ? room.place(mx + 5, my + 3, says) : null;
	return `<g class="edge${isCritical ? ' critical' : ''}${g.isDifference ? ' change' : ''}"><g><a xlink:title="${escaped(`${g.nodes[a.from].name} → ${g.nodes[a.to].name}\n${says}`)}">` +
		`<path fill="none" stroke="${color}" stroke-width="${wide}" d="${d}"/>` +
		`<polygon fill="${color}" stroke="${color}" points="${fixed(x)},${fixed(y)} ${fixed(x - 3.5)},${fixed(y + 8 * up)} ${fixed(x + 3.5)},${fixed(y + 8 * up)}"/></a></g>` +
		(textY !== null ? `<text x="${fixed(mx + 5)}" y="${fixed(textY)}" font-size="9">${escaped(says)}</text>` : '') + '</g>';
}

export function drawn(g: CallGraphData, threshold: number): string {
	const arrows = pruned(g, threshold), back = backwards(g.nodes.length, arrows), layer = layersOf(g.nodes.length, arrows, back);
	const items: Item[] = g.nodes.map((n, i) => {
		const text = words(g, n);
		return { node: i, layer: layer[i], width: Math.max(70, ...text.map((line) => line.length * 6.1 + 20)), height: text.length * LINE + 12, x: 0, y: 0 };
	});
	const links: Link[] = [], ways: number[][] = arrows.map((a, i) => {
		const [from, to] = back[i] ? [a.to, a.from] : [a.from, a.to], way = [from];
		for (let l = layer[from] + 1; l < layer[to]; l++)
			way.push(items.push({ node: -1, layer: l, width: 4, height: 0, x: 0, y: 0 }) - 1);
		way.push(to);
		for (let k = 1; k < way.length && a.from !== a.to; k++)
			links.push({ from: way[k - 1], to: way[k] });
		return back[i] ? way.reverse() : way;
	});
	if (items.length)
		place(items, links, ordered(items, links));
	const left = Math.min(0, ...items.map((i) => i.x - i.width / 2)) - SIDE, right = Math.max(1, ...items.map((i) => i.x + i.width / 2)) + 60, bottom = Math.max(1, ...items.map((i) => i.y + i.height)) + SIDE;
	const mostOf = (list: number[]) => list.reduce((most, v) => Math.max(most, Math.abs(v)), 0);
	const mostNode = mostOf(g.nodes.map((n) => isSure(g.chance, n.totalBefore, n.total) ? n.total - n.totalBefore : 0)), mostArrow = mostOf(arrows.map((a) => isSure(g.chance, a.before, a.value) ? a.value - a.before : 0));
	const room = new Room();
	const drawnArrows = arrows.map((a, i) => {
		const way = ways[i], up = back[i];
		if (a.from === a.to) {
			const item = items[a.from], x = item.x + item.width / 2;
			return arrowText(g, a, [[x - 8, item.y + item.height], [x + 14, item.y + item.height / 2], [x - 8, item.y]], !!a.isCritical, mostArrow, room);
		}
		const points = way.map((n, k): [number, number] => {
			const item = items[n], first = k === 0, isEnd = first || k === way.length - 1;
			return [item.x, isEnd ? item.y + (first !== up ? item.height : 0) : item.y];
		});
		return arrowText(g, a, points, !!a.isCritical, mostArrow, room);
	});
	return `<svg xmlns="http://www.w3.org/2000/svg" xmlns:xlink="http://www.w3.org/1999/xlink" viewBox="${fixed(left)} ${-SIDE} ${fixed(right - left)} ${fixed(bottom + SIDE)}"><g class="graph">` +
		drawnArrows.join('') + g.nodes.map((n, i) => boxText(g, n, items[i], !!n.isCritical, mostNode)).join('') + '</g></svg>';
}
