// The table of functions: columns of numbers, from the server's exact table, or while a box is zoomed, from the boxes
// on it.

import type { TableAnswer } from './api';
import { isSure } from './flame/chance';
import { drawnOnly, functionRows, rounded, type FlameData } from './flame/data';
import { ranks } from './flame/names';
import * as format from './format';

export type Kind = 'self' | 'total' | 'self_before' | 'self_after' | 'total_before' | 'total_after';

export interface Metric {
	group: string;			// its column, "wall_ns"
	kind: Kind;
	title: string;
	unit: string;
	whole: number;			// 100 % of shares
	sum: number;			// differs from that if memory was freed
	values: ArrayLike<number>;
	shares?: { values: ArrayLike<number>; whole: number };		// scaled values: shares of the measured ones
	isChange: boolean;
	sure?: Set<number>;		// changes that exceed the noise
}

export interface Rows {
	names: string[];
	places: string[];
	metrics: Metric[];
	chosen: string;			// the group that comes first
	atMost: Set<number>;
	rank?: Uint32Array;		// sort order of names, once computed
}

function placeOf(file: string, line: number): string {
	return file && line ? `${file}:${line}` : file;
}

// Calls have no totals: calls made by callees are not the function's.
function kinds(group: string): ('self' | 'total')[] {
	return group === 'calls' ? ['self'] : ['self', 'total'];
}

function title(kind: 'self' | 'total', group: string): string {
	return group === 'calls' ? 'number' : kind;
}

function comparison(t: { group: string; unit: string; self: ArrayLike<number>[]; total: ArrayLike<number>[]; whole: [number, number] },
	sure: [Set<number>, Set<number>], measured?: { self: number[]; total: number[]; whole: number }): Metric[] {
	const { group, unit, whole } = t, metrics: Metric[] = [];
	for (const kind of kinds(group)) {
		const [before, after] = t[kind], change = Float64Array.from(after, (v, i) => v - before[i]), word = title(kind, group);
		metrics.push(
			{ group, unit, kind, title: `${word} change`, whole: whole[0] || whole[1], sum: 0, values: change, isChange: true,
				sure: sure[kind === 'self' ? 0 : 1] },
			{ group, unit, kind: `${kind}_before`, title: `${word} before`, whole: whole[0], sum: 0, values: before, isChange: false,
				shares: measured && { values: measured[kind], whole: measured.whole } },
			{ group, unit, kind: `${kind}_after`, title: `${word} after`, whole: whole[1], sum: 0, values: after, isChange: false });
	}
	return metrics;
}

export function rowsOfTable(t: TableAnswer): Rows {
	const metrics: Metric[] = [], chosen = t.columns[t.column]?.name || '', unit = t.columns[t.column]?.unit || '';
	if (t.whole)
		metrics.push(...comparison({ group: chosen, unit, self: t.self, total: t.total, whole: t.whole },
			[new Set(t.self_changed), new Set(t.total_changed)],
			t.self_measured && t.total_measured && { self: t.self_measured, total: t.total_measured, whole: t.whole_measured! }));
	else
		t.columns.forEach(({ name, unit, whole, total }, c) => {
			const column = { group: name, unit, whole: whole ?? total, sum: total, isChange: false };
			for (const kind of kinds(name))
				metrics.push({ ...column, kind, title: title(kind, name), values: t[kind][c] });
		});
	return { names: t.name, places: t.file.map((file, i) => placeOf(file, t.line[i])), metrics, chosen, atMost: new Set(t.at_most) };
}

export function rowsOfBoxes(d: FlameData, within: number): Rows {
	const column = d.about.columns[d.about.column], group = column?.name || 'samples', unit = column?.unit || 'count';
	const rows = functionRows(d, within), of = (values: ArrayLike<number>) => rows.map((r) => values[r.frame] || 0);
	const common = { names: rows.map((r) => r.name), places: rows.map((r) => d.place(r.frame)), chosen: group, atMost: new Set<number>() };
	if (!d.before || !d.after) {
		const metric = { group, unit, whole: d.width[within], sum: d.width[within], isChange: false };
		return { ...common, metrics: kinds(group).map((kind) => ({ ...metric, kind, title: title(kind, group) + drawnOnly(column), values: rows.map((r) => r[kind]) })) };
	}
	const sides = [d.before, d.after].map((values) => {
		const self: number[] = [], total: number[] = [];
		for (const r of functionRows(d, within, values)) {
			self[r.frame] = r.self;
			total[r.frame] = r.total;
		}
		return { self: of(self), total: of(total) };
	});
	const sure = (kind: 'self' | 'total') => new Set([...rows.keys()].filter((i) => isSure(d.about.compared?.chance, sides[0][kind][i], sides[1][kind][i])));
	const shown = (kind: 'self' | 'total') => [sides[0][kind].map(rounded), sides[1][kind]];
	return { ...common, metrics: comparison({ group, unit, self: shown('self'), total: shown('total'), whole: [rounded(d.before[within]), d.after[within]] },
		[sure('self'), sure('total')], { ...sides[0], whole: d.before[within] }) };
}

// Indices of rows, sorted by a metric or by name. Changes are sorted by magnitude.
export function ordered(r: Rows, which: number[], metric: Metric | undefined, down: boolean): number[] {
	const sign = down ? -1 : 1, rank = r.rank ??= ranks(r.names), values = metric?.values || rank, keys = metric?.isChange ? Array.from(values, Math.abs) : values;
	return which.sort((a, b) => sign * (keys[a] - keys[b]) || rank[a] - rank[b]);
}

export function text(m: Metric, i: number, atMost: Set<number>): string {
	const v = m.values[i];
	if (m.isChange)
		return format.change(v, m.unit) + (m.sure && v && !m.sure.has(i) ? '?' : '');
	return (m.kind === 'total' && atMost.has(i) ? '≤' : '') + format.value(v, m.unit);
}
