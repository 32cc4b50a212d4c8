// Texts for a picture whose boxes are an estimate: values of functions, and the width of a box. Same as in
// src/render/frames.c.

import type { FlameData } from '../flame/data';
import type { Exact } from '../flame/exact';
import { amount, atMost, difference, percent, type Unit } from './words';

// Independent of its boxes.
function functionTook({ known, ofCalls, sides }: Exact, f: number, unit: Unit): string {
	const [one, other] = sides, limit = known[f] === 2;
	if (!known[f])
		return '';
	if (other)
		return `total ${difference([one.total[f], other.total[f]], [one.self[f], other.self[f]], [one.whole, other.whole], unit, limit)}; `;
	const [self, total] = [one.self[f], one.total[f]], took = (v: number) => `${amount(v, unit)}, ${percent(v, one.whole)}`;
	const own = ofCalls ? '' : self === total ? '; all of it self' : self ? `; self ${took(self)}` : '';
	return `${ofCalls ? '' : 'total '}${limit ? atMost(amount(total, unit)) + ', ' + atMost(percent(total, one.whole)) : took(total)}${own}; `;
}

function boxTook(d: FlameData, exact: Exact, box: number, unit: Unit): string {
	const { before, after } = d, [one, other] = exact.sides, whole = d.whole && box === 0;
	if (before && after)
		return difference(whole ? [one.whole, other.whole] : [before[box], after[box]], [0, 0],
			whole ? [one.whole, other.whole] : [before[0], after[0]], unit);
	return `${amount(whole ? one.whole : d.width[box], unit)}, ${box ? percent(d.width[box], d.total) : '100%'}`;
}

export function estimateTitle(d: FlameData, exact: Exact, box: number, unit: Unit): string {
	return `${d.name(box)} (${functionTook(exact, d.frame[box], unit)}${box ? 'estimated here ' : ''}${boxTook(d, exact, box, unit)})`;
}

// The sign before a matched share: for a whole profile it is exact or a limit; parts of it are estimates.
export function matchedSign(whole: FlameData, zoomed: number, isLimit: boolean): string {
	return !whole.whole || zoomed > 0 || whole.before ? '≈ ' : isLimit ? '≤ ' : '';
}

// The base of shares in a table.
export function tableWhole(d: FlameData, exact: Exact, within: number): number {
	return d.whole && within === 0 ? Math.max(...exact.sides.map((side) => side.whole)) : d.width[within];
}
