// Amounts in the notation of pictures.

import { decimals, scaled, SIZES, TIMES } from '../amount';
import { rounded } from '../flame/data';

export interface Unit {
	unit: 'count' | 'time' | 'bytes';
	countName: string | null;	// null: the unit is enough
	factor?: number;		// factor of displayed values
	fractions?: boolean;		// counts may then be fractions
}

const grouping = new Intl.NumberFormat('en-US');

export const grouped = (v: number) => grouping.format(v);

// An upper limit.
export const atMost = (text: string) => `≤${text}`;

// Like C's rint(): halfway cases round to even.
function multiplied(v: number, factor: number): number {
	const product = v * factor, rounded = Math.round(product);
	return rounded - product === 0.5 && rounded % 2 ? rounded - 1 : rounded;
}

export function amount(v: number, { unit, countName, factor, fractions }: Unit): string {
	if (factor)
		v = fractions ? v * factor : multiplied(v, factor);
	if (v < 0)
		return `−${amount(-v, { unit, countName, fractions })}`;
	const number = fractions ? v.toLocaleString('en-US', { maximumFractionDigits: decimals(v, 6) }) : grouping.format(v);
	if (countName !== null)
		return `${number} ${countName}`;
	if (unit === 'count')
		return number;
	return scaled(v, unit === 'time' ? TIMES : SIZES);
}

export function percent(part: number, whole: number): string {
	return `${(whole ? 100 * part / whole : 0).toFixed(2)}%`;
}

// A frame's totals and self values before and after, as text: same as src/render/difference.c. Points are percent of
// the whole before.
export function difference([before, after]: [number, number], [ownBefore, ownAfter]: [number, number], [allBefore, allAfter]: [number, number],
	unit: Unit, limits = false): string {
	const limit = (text: string) => limits ? atMost(text) : text;
	const bare: Unit = unit.countName === null ? unit : { ...unit, unit: 'count', countName: null };
	const signed = (v: number, what: string) => `${v < 0 ? '-' : '+'}${Math.abs(v).toFixed(2)}${what}`;
	const base = allBefore > 0 ? rounded(allBefore) : allAfter;
	const change = (exact: number, to: number) => {
		const from = rounded(exact), delta = to - from;
		return delta ? `${delta > 0 ? '+' : '-'}${amount(Math.abs(delta), bare)}, ${from ? signed(100 * delta / from, '%') : 'new'}${
			base > 0 ? `, ${signed(100 * delta / base, ' points')}` : ''}` : 'no change';
	};
	const sides = (from: number, to: number, by: Unit, between: string, mark = (text: string) => text) =>
		`before ${mark(amount(rounded(from), by))}, ${mark(percent(from, allBefore))}${between} after ${mark(amount(to, by))}, ${mark(percent(to, allAfter))}`;
	const own = !rounded(ownBefore) && !ownAfter ? '' : rounded(ownBefore) === rounded(before) && ownAfter === after ? '; all of it self' :
		`; self ${sides(ownBefore, ownAfter, bare, ',')}: ${change(ownBefore, ownAfter)}`;
	return `${sides(before, after, unit, ';', limit)}; ${change(before, after)}${own}`;
}

export function escapeRegExp(text: string): string {
	return text.replace(/[\\^$.*+?()[\]{}|]/g, '\\$&');
}

// undefined if it is not a valid regular expression.
export function compile(text: string, ignoreCase: boolean): RegExp | null | undefined {
	if (!text)
		return null;
	for (const flags of ['u', ''])
		try {
			return new RegExp(text, flags + (ignoreCase ? 'i' : ''));
		} catch {
			continue;
		}
	return undefined;
}
