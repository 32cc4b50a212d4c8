// The server's answers to a page (src/api.ts, api_views.ts), from the data in a file. Graphs, tables and neighbors
// are computed from the tree; if the tree is an estimate, or a difference with changes within the noise, tables are
// taken from the file.

import { isSure, type Chance } from '../flame/chance';
import type { Edge, FunctionAnswer, Label, SourceAnswer, Status, TableAnswer, Timeline } from '../api';
import type { CallGraphAnswer } from '../api_views';
import { FlameData, readFlame, wholeOf, type About, type ChartFacts, type Column, type Words } from '../flame/data';
import { reverseTree, type Filter, type Meaning } from '../flame/derive';
import { Exact } from '../flame/exact';
import * as format from '../format';
import { Matcher } from '../matcher';
import { isStackFilter as isFilter, view, type View } from '../state';
import { drawn, limited } from './drawing';
import { matchOf, usable } from './filters';
import { sigmaOf } from './sigma';
import { facts, type PackedEdge } from './start';
import { arrowsOf, boxesOf, filtered, neighbors, readTree, regrouped, ROOT, sumsOf, type Sums, type Tree } from './tree';

const LEAST = 1e-5;		// inverted graphs leave out smaller shares of the total, so that millions of stacks take seconds
const SHORT = '[short calls]';

let base: Tree, chart: FlameData | null = null;

// Decodes Base64 of a zlib stream in pieces, because atob returns a string.
async function unpack(id: string): Promise<ArrayBuffer | null> {
	const PIECE = 1 << 20, element = document.getElementById(id), text = element?.textContent?.trim() || '';
	let at = 0;
	if (!element)
		return null;
	element.remove();		// the text is no longer needed
	const bytes = new ReadableStream<Uint8Array<ArrayBuffer>>({
		pull(out) {
			const piece = atob(text.slice(at, at += PIECE)), part = new Uint8Array(piece.length);
			for (let i = 0; i < piece.length; i++)
				part[i] = piece.charCodeAt(i);
			out.enqueue(part);
			if (at >= text.length)
				out.close();
		},
	});
	return new Response(bytes.pipeThrough(new DecompressionStream('deflate'))).arrayBuffer();
}

export async function loadFile(): Promise<void> {
	const profile = await unpack('profile'), calls = await unpack('chart'), f = facts();
	base = readTree(profile!, f.factor || 1);
	for (const c of f.columns) {
		c.total *= f.factor || 1;
		c.whole = c.whole && c.whole * (f.factor || 1);
		c.before = c.before && c.before * (f.factor || 1);
	}
	if (calls)
		chart = readChart(calls);
}

// Joined calls have a frame after the root's, which must be the last one.
function readChart(bytes: ArrayBuffer): FlameData {
	const d = readFlame(bytes), c = facts().chart!, { names, frameName, frameFile, frameLine, about } = d.words, root = frameName.length - 1;
	const chart: ChartFacts = { calls: c.calls, left_out: 0, start: c.start, length_ns: c.length_ns, from_ns: 0, to_ns: c.length_ns };
	const words: Words = { ...d.words, names: [...names, SHORT], frameName: [...frameName.slice(0, root), names.length, frameName[root]],
		frameFile: [...frameFile, frameFile[root]], frameLine: [...frameLine, 0], chart, about: { ...about, labels: facts().labels } };
	return new FlameData({ ...fieldsOf(d), frame: d.frame.map((f) => f < root ? f : 2 * root + 1 - f) }, words);
}

// --- Filtering stacks ---

export interface FileQuery {
	by: string;
	filters: [string, string][];
	column: string;
	function: string;
	file: string;
	reverse: boolean;
	threshold: string;
	width: Meaning;
}

function keyOf(v: View): FileQuery {
	const width = v.filters.find(([key]) => key === 'width')?.[1] ?? facts().widthOf ?? '';
	return { by: facts().grouped ? '' : v.by, filters: v.filters.filter(isFilter), column: v.column, function: v.function, file: v.functionFile, reverse: v.reverse, threshold: v.threshold,
		width: width as Meaning };
}

// Caches the latest result of each kind.
function memoizeLast<T>(make: (a: FileQuery) => T, key: (a: FileQuery) => unknown): (a: FileQuery) => T {
	let last = '', kept: T;
	return (a) => {
		const now = JSON.stringify(key(a));
		if (now !== last)
			[kept, last] = [make(a), now];
		return kept;
	};
}

// Names of all groupings, functions first.
const allNames = (): string[] => names ||= [base.words.names, ...Object.values(facts().groups).map((g) => g.names)].flat();
let names: string[] | undefined;

// Frames whose displayed names match, or if there are none, functions whose names match.
function matching(by: string, byName: Uint8Array): Uint8Array {
	const { frameName, names } = base.words, { groups, own } = facts();
	let first = names.length;
	for (const key of Object.keys(groups).slice(0, Math.max(0, Object.keys(groups).indexOf(by))))
		first += groups[key].names.length;
	const match = Uint8Array.from(frameName, (n, f) => f === base.rootFrame ? 0 : groups[by] ? byName[first + groups[by].of[f]] : by === 'own' && !own[f] ? 0 : byName[n]);
	return !by || match.includes(1) ? match : matching('', byName);
}

const keptOf = memoizeLast((a) => {
	const filters: Filter[] = a.filters.map((f) => ({ match: matching(a.by, matchOf(f)!), keep: f[0].startsWith('keep') }));
	return filters.length ? filtered(base, filters) : base;
}, (a) => [a.by, a.filters]);

function groupWords(by: string): Words {
	const { names } = facts().groups[by];
	return { ...base.words, names: [...names, 'all'], files: [''], frameName: [...names.keys(), names.length],
		frameFile: new Array(names.length + 1).fill(0), frameLine: new Array(names.length + 1).fill(0) };
}

// Adds a function before the root, for code that is not one's own.
function ownWords(): Words {
	const { names, files, frameName, frameFile, frameLine } = base.words, none = files.indexOf('');
	const insert = (list: number[], v: number) => [...list.slice(0, -1), v, list[list.length - 1]];
	return { ...base.words, names: [...names, '[other code]'], files: none < 0 ? [...files, ''] : files, frameName: insert(frameName, names.length),
		frameFile: insert(frameFile, none < 0 ? files.length : none), frameLine: insert(frameLine, 0) };
}

const treeOf = memoizeLast((a) => {
	const t = keptOf(a);
	if (a.by === 'own')
		return regrouped(t, facts().own.map((own, f) => own ? f : -1), ownWords(), base.rootFrame);
	return facts().groups[a.by] ? regrouped(t, facts().groups[a.by].of, groupWords(a.by)) : t;
}, (a) => [a.by, a.filters]);

// --- Columns ---

function indexOf(a: FileQuery): number {
	const at = facts().columns.findIndex((c) => c.name === a.column);
	return at < 0 ? facts().column : at;
}

// Columns of the tree, both sides in a comparison.
const sidesOf = (metric: number): number[] => facts().compared ? [2 * metric, 2 * metric + 1] : [metric];
// Values before are rounded along the tree for boxes; those of functions are computed from measured values.
function functionSides(metric: number): { columns: number[]; scaled: (values: number[]) => number[]; measured: boolean } {
	const measured = facts().columns[metric].measured, k = facts().factor || 1, [before, after] = sidesOf(metric);
	const round = (v: number) => Math.sign(v) * Math.round(Math.abs(v));
	return measured ? { columns: [measured[0], after], scaled: ([v, ...rest]) => [round(v / k * measured[1] / measured[2]) * k, ...rest], measured: true } :
		{ columns: facts().compared ? [before, after] : base.own.map((_, c) => c), scaled: (values) => values, measured: false };
}

function unrounded(t: Tree, metric: number): Float64Array | undefined {
	const measured = facts().columns[metric].measured;
	return measured && (facts().factor || 1) === 1 ? Float64Array.from(t.own[measured[0]], (v) => v * measured[1] / measured[2]) : undefined;
}

// Columns of the tree that count calls.
function callsColumns(): number[] {
	const metric = facts().columns.findIndex((c) => c.name === 'calls');
	return metric < 0 ? [] : facts().compared ? functionSides(metric).columns : [metric];
}

const givenOf = (t: Tree, { measured }: { measured?: number[] }) => measured && { given: t.sum(measured[0], false) };

// Sums, and bases of shares, for the current stacks and groups: if memory was freed, they depend on which nodes are
// added up.
const columnsOf = memoizeLast((a): Column[] => {
	const { columns, tables } = facts(), known = a.filters.length ? undefined : tables?.[a.by || 'function'] as { wholes?: number[] } | undefined;
	if (!a.filters.length && (!a.by || known?.wholes))
		return columns.map((c, i) => ({ ...c, ...known?.wholes && { whole: known.wholes[i] * (facts().factor || 1) }, ...givenOf(base, c) }));
	const t = treeOf(a);
	return columns.map((c, m) => {
		const sides = sidesOf(m), after = sides[sides.length - 1], { columns: of, scaled } = functionSides(m);
		return { ...c, total: t.sum(after, false), whole: t.sum(after, true), ...c.before !== undefined && { before: scaled(of.map((i) => t.sum(i, false)))[0] }, ...givenOf(t, c) };
	});
}, (a) => [a.by, a.filters]);

// For the chosen metric, in units of displayed values: with fewer functions, fewer change by chance.
const chanceOf = memoizeLast((a): Chance | undefined => {
	const chance = facts().columns[indexOf(a)].chance, k = facts().factor || 1;
	if (!chance)
		return undefined;
	const sigma = a.filters.length || a.by ? sigmaOf(functionsOf(treeOf(a), sumsAt(a)).length) : chance[0];
	return [sigma, ...chance.slice(1).map((v) => v * k)] as Chance;
}, (a) => [a.by, a.filters, a.column]);

// --- Graphs ---

function aboutOf(a: FileQuery): About {
	const f = facts(), about: About = { from: 0, to: 0, looked: undefined as never, columns: columnsOf(a), column: indexOf(a), period_ns: f.period_ns,
		labels: f.labels, reverse: false, estimated: f.estimated };
	if (f.compared)
		Object.assign(about, { compared: { ...f.compared, chance: chanceOf(a) }, runs: [] });
	if (chart)
		about.charted_calls = f.chart!.calls;
	return about;
}

const flameOf = memoizeLast((a) => {
	const f = facts(), metric = indexOf(a), about = aboutOf(a), isFirst = metric === f.column;
	const t = treeOf(a), d = boxesOf(t, sidesOf(metric), a.width, about, isFirst && !a.filters.length && f.total ? f.total * (f.factor || 1) : 0, unrounded(t, metric));
	if (!d.total)
		about.empty = a.filters.length ? 'Nothing is left: no stack passes all filters.' : `No stack has a value of ${format.columnName(f.columns[metric].name)}.`;
	if (!f.exact || a.by || !isFirst)
		return d;
	const exact = new Exact(f.exact, t.words.frameName.length), whole = a.filters.length ? undefined : wholeOf(exact, 0);
	return new FlameData({ ...fieldsOf(d), whole }, { ...d.words, exact });
}, (a) => [a.by, a.filters, a.column, a.width]);

const fieldsOf = ({ depths, total, leftOut, offsets, start, width, frame, before, after, ownBefore, ownAfter, beyond, whole }: FlameData) =>
	({ depths, total, leftOut, offsets, start, width, frame, before, after, ownBefore, ownAfter, beyond, whole });

const turnedOf = memoizeLast((a) => reverseTree(flameOf(a), LEAST, false), (a) => [a.by, a.filters, a.column, a.width]);

export function unreversed(): FlameData {
	const a = keyOf(view.peek());
	return flameOf({ ...a, filters: a.filters.filter(matchOf) });
}

// --- Tables ---

const sumsAt = memoizeLast((a) => sumsOf(treeOf(a), callsColumns()), (a) => [a.by, a.filters]);

function given(a: FileQuery): Partial<TableAnswer> | undefined {
	const table = a.filters.length ? undefined : facts().tables?.[a.by || 'function'];
	return Array.isArray(table) ? table[indexOf(a)] : table;
}

function multiplied<T extends Partial<TableAnswer>>(t: T): T {
	const k = facts().factor || 1, times = (lists?: number[][]) => lists?.map((list) => list.map((v) => v * k));
	return k === 1 ? t : { ...t, self: times(t.self), total: times(t.total), whole: t.whole?.map((v) => v * k) };
}

const functionsOf = (t: Tree, sums: Sums): number[] => [...t.words.frameName.keys()].filter((f) => sums.seen[f] && f !== t.rootFrame);

function counted(a: FileQuery): Partial<TableAnswer> {
	const t = treeOf(a), sums = sumsAt(a), { frameName, frameFile, frameLine, names, files } = t.words, metric = indexOf(a);
	const frames = functionsOf(t, sums), { columns, scaled, measured } = functionSides(metric), ratio = facts().columns[metric].measured, k = facts().factor || 1;
	const sum = (c: number) => t.sum(c, true);
	const chance = facts().compared && chanceOf(a), exact = (of: Float64Array[], f: number) => columns.map((c, i) => of[c][f] * (i || !ratio ? 1 : ratio[1] / ratio[2] * k));
	const changed = (of: Float64Array[]) => [...frames.keys()].filter((i) => isSure(chance, ...exact(of, frames[i]) as [number, number]));
	const lists = (of: Float64Array[]) => columns.map((_, i) => frames.map((f) => scaled(columns.map((c) => of[c][f]))[i]));
	return { count: frames.length, name: frames.map((f) => names[frameName[f]]), file: frames.map((f) => files[frameFile[f]]), line: frames.map((f) => frameLine[f]),
		self: lists(sums.self), total: lists(sums.total), at_most: [],
		...facts().compared && { whole: scaled(columns.map(sum)) as [number, number], self_changed: changed(sums.self), total_changed: changed(sums.total) },
		...measured && { self_measured: frames.map((f) => sums.self[columns[0]][f]), total_measured: frames.map((f) => sums.total[columns[0]][f]), whole_measured: sum(columns[0]) } };
}

function tableOf(a: FileQuery): TableAnswer {
	const t = given(a);
	return { columns: columnsOf(a), column: indexOf(a), ...t ? multiplied(t) : counted(a) } as TableAnswer;
}

// --- Callers and callees ---

type Made = Pick<FunctionAnswer['function'], 'self' | 'total' | 'again' | 'at_most' | 'self_measured' | 'total_measured'>;

interface Place {
	name: string[];
	file: string[];
	line: number[];
}

function answer(a: FileQuery, places: Place, first: number, many: number, made: Made, callers: PackedEdge[], callees: PackedEdge[], files: string[] = []): FunctionAnswer {
	const name = places.name[first], k = facts().factor || 1, times = (values: number[]) => values.map((v) => v * k);
	const edge = ([f, values, atMost, measured]: PackedEdge): Edge => ({ name: f < 0 ? null : places.name[f], file: f < 0 ? '' : places.file[f], line: f < 0 ? 0 : places.line[f],
		values: times(values), measured, at_most: atMost === 1, itself: f >= 0 && places.name[f] === name });
	return { columns: columnsOf(a), column: indexOf(a), callers: callers.map(edge), callees: callees.map(edge),
		function: { name, file: places.file[first], line: places.line[first], places: many, files, self: times(made.self), total: times(made.total),
			again: times(made.again), at_most: made.at_most, self_measured: made.self_measured, total_measured: made.total_measured } };
}

// Values from the file, if the tree is an estimate.
function measured(a: FileQuery): FunctionAnswer | null {
	const all = a.filters.length ? undefined : facts().around?.[a.by || 'function'], around = Array.isArray(all) ? all[indexOf(a)] : all, first = around ? around.name.indexOf(a.function) : -1;
	if (!around || first < 0)
		return null;
	const made = around.functions[first];
	return made === 0 ? null : answer(a, around, first, around.name.filter((n) => n === a.function).length, made, made.callers, made.callees);
}

function functionOf(a: FileQuery): FunctionAnswer {
	const known = measured(a);
	if (known)
		return known;
	const t = treeOf(a), { frameName, frameFile, frameLine, names, files } = t.words, metric = indexOf(a), { columns: sides, scaled, measured: isScaled } = functionSides(metric);
	const of = Uint8Array.from(frameName, (n, f) => names[n] === a.function && f !== t.rootFrame && (!a.file || files[frameFile[f]] === a.file) ? 1 : 0), first = of.indexOf(1), calls = facts().compared && facts().columns[metric].name !== 'calls' ? [] : callsColumns();
	if (first < 0)
		throw new Error(`There is no ${facts().grouped || (a.by && a.by !== 'own' ? a.by : 'function')} “${a.function}” here.`);
	// The server's profile of a difference has only the chosen metric.
	const at = facts().compared ? [...sidesOf(metric), sides[0]] : sides, callers = neighbors(t, of, true, at, calls), callees = neighbors(t, of, false, at, calls), k = facts().factor || 1;
	const main = sides[sides.length - 1] === sides[0] || !facts().compared ? metric : sides[1], pick = (values: number[]) => scaled(sides.map((c) => values[c])).map((v) => v / k);
	const raw = (values: number[]) => isScaled ? values[sides[0]] : undefined;
	const list = (edges: Map<number, number[]>): PackedEdge[] => [...edges].sort(([f, x], [g, y]) => y[main] - x[main] || (facts().compared ? 0 : calls.reduce((d, c) => d + y[c] - x[c], 0)) ||
		(nameAt(f) < nameAt(g) ? -1 : 1)).map(([f, values]) => [f === ROOT ? -1 : f, pick(values), 0, raw(values)]);
	const nameAt = (f: number) => f < 0 ? '' : names[frameName[f]], places: Place = { name: frameName.map((n) => names[n]), file: frameFile.map((n) => files[n]), line: frameLine };
	const made = { self: pick(callees.self), total: pick(callees.total), again: pick(callees.again), at_most: false, self_measured: raw(callees.self), total_measured: raw(callees.total) };
	return answer(a, places, first, of.reduce((n, v) => n + v, 0), made, list(callers.edges), list(callees.edges), [...new Set([...frameName.keys()].filter((f) => names[frameName[f]] === a.function && f !== t.rootFrame).map((f) => files[frameFile[f]]))].sort());
}

// --- The call graph ---

const MOST = 120;		// functions that fit on a screen and are laid out instantly

function callGraphOf(a: FileQuery): CallGraphAnswer {
	const t = treeOf(a), table = tableOf(a), { columns, scaled } = facts().compared ? functionSides(indexOf(a)) : { columns: sidesOf(indexOf(a)), scaled: (v: number[]) => v }, column = table.columns[table.column], threshold = Number(a.threshold || '0.5') / 100;
	const last = facts().compared ? 1 : table.column, before = (list: number[][]) => facts().compared ? list[0] : null;
	const whole = Math.max(column.whole ?? column.total, column.before ?? 0), weight = (i: number) =>
		Math.max(...[table.total[last][i], table.self[last][i], before(table.total)?.[i] ?? 0, before(table.self)?.[i] ?? 0].map(Math.abs));		// memory may be given back
	const wanted = [...table.name.keys()].filter((i) => weight(i) > 0 && weight(i) >= threshold * whole).sort((i, j) => weight(j) - weight(i));
	const at = new Map(wanted.map((i, n) => [`${table.name[i]}\n${table.file[i]}:${table.line[i]}`, n]));
	const { frameName, frameFile, frameLine, names, files } = t.words, node = frameName.map((n, f) => at.get(`${names[n]}\n${files[frameFile[f]]}:${frameLine[f]}`) ?? -1);
	const arrows = arrowsOf(t, columns, Uint8Array.from(node, (n) => n >= 0 ? 1 : 0), callsColumns());
	const graph = limited({
		unit: column.unit, whole, isCalls: column.name === 'calls', isDifference: !!facts().compared, chance: chanceOf(a), estimated: !!facts().estimated,
		nodes: wanted.map((i) => ({ name: table.name[i], place: table.file[i] && table.line[i] ? `${table.file[i]}:${table.line[i]}` : table.file[i], self: table.self[last][i], total: table.total[last][i], selfBefore: before(table.self)?.[i] ?? 0,
			totalBefore: before(table.total)?.[i] ?? 0, atMost: table.at_most?.includes(i) })),
		arrows: arrows.map((w) => ({ from: node[w.from], to: node[w.to], value: w.values[w.values.length - 1], before: facts().compared ? scaled(w.values)[0] : 0 })),
	}, threshold, MOST);
	return { svg: drawn(graph, threshold), warning: wanted.length > MOST ? `The picture shows ${MOST} of the ${format.count(wanted.length)} functions${threshold ? ` with at least ${+(100 * threshold).toPrecision(6)}%` : ''}; a higher threshold chooses fewer` : '' };
}

// --- The search of the flame chart ---

const matcher = new Matcher();
let sought = '', searching: Promise<{ boxes: Uint8Array; hits: Uint32Array } | null> = Promise.resolve(null);

// The matching boxes, in time order, except the root and joined calls.
async function searchChart(d: FlameData, search: string): Promise<{ boxes: Uint8Array; hits: Uint32Array }> {
	const byName = await new Promise<Uint8Array | null>((got) => matcher.ask(d.names, new RegExp(search, 'i'), got)), calls = d.frameName.length - 2;
	if (!byName)
		throw new Error('This search takes too long.');
	const boxes = Uint8Array.from(d.frame, (f) => f < calls ? byName[d.frameName[f]] : 0);
	return { boxes, hits: Uint32Array.from([...boxes.keys()].filter((i) => boxes[i])).sort((i, j) => d.start[i] - d.start[j] || i - j) };
}

// --- Queries, by the names of src/api.ts ---

// The query with those filters that apply.
async function tried(a: FileQuery): Promise<FileQuery> {
	return { ...a, filters: await usable(allNames(), a.filters) };
}

const read = (query: string) => tried(JSON.parse(query) as FileQuery);

export function flameQuery(v: View): string {
	return JSON.stringify({ ...keyOf(v), function: '', threshold: '', reverse: v.reverse && !v.function });
}

export const partQuery = (query: string): string => query;

export function tableQuery(v: View): string {
	return JSON.stringify({ ...keyOf(v), function: '', threshold: '', reverse: false, width: '' });
}

export function functionQuery(v: View): string {
	return v.function && JSON.stringify({ ...keyOf(v), threshold: '', reverse: false, width: '' });
}

export function chartQuery(v: View): string {
	return JSON.stringify({ ...keyOf(v), column: '', by: '', function: '', threshold: '', reverse: false, width: '' });
}

export const timelineQuery = (): string => '';
export const sourceQuery = (): string => '';		// source files are not available

// Like the server's, but the chart always has all of its boxes.
export async function getChart(_query: string, part: { from: number } | null, _pixels: number, search: string, _signal: AbortSignal, nth: number | '' = ''): Promise<FlameData> {
	const d = chart!, c = d.words.chart!;
	if (search !== sought)
		[sought, searching] = [search, search ? searchChart(d, search) : Promise.resolve(null)];
	const found = await searching, n = found?.hits.length;
	c.search = found ? { calls: n!, boxes: found.boxes } : undefined;
	if (n && nth !== '') {
		const before = found.hits.findIndex((i) => d.start[i] >= part!.from), number = ((before < 0 ? n : before) + nth + n - 1) % n, box = found.hits[number];
		c.search!.call = { number: number + 1, from_ns: d.start[box], to_ns: d.start[box] + d.width[box], depth: d.depthOf(box) };
	}
	return d;
}

export async function getFlame(query: string): Promise<FlameData> {
	const a = await read(query);
	return a.reverse ? turnedOf(a) : flameOf(a);
}

export async function getTable(query: string): Promise<TableAnswer> {
	return tableOf(await read(query));
}

export async function getFunction(query: string): Promise<FunctionAnswer> {
	return functionOf(await read(query));
}

export async function getCallGraph(v: View): Promise<CallGraphAnswer> {
	return callGraphOf(await tried(keyOf(v)));
}

export const getLabels = async (): Promise<Label[]> => [];
export const getTimeline = async (): Promise<Timeline | null> => null;
export const getSource = async (): Promise<SourceAnswer | null> => null;
export const getStatus = async (): Promise<Status | null> => null;
export type { Sums };
