// Colours of a difference: from white to orange for more, to blue for less, which all kinds of eyes tell apart.

import { rounded, type FlameData } from './data';
import { isGrey } from './grey';

export function differenceColor(share: number): string {
	const t = Math.min(1, Math.abs(share)) ** 0.5, [r, g, b] = share > 0 ? [230, 97, 1] : [43, 123, 186];
	const mix = (c: number) => Math.round(245 + (c - 245) * t);
	return share === 0 ? 'rgb(240,240,240)' : `rgb(${mix(r)},${mix(g)},${mix(b)})`;
}

// By box: how much its change, with all below it or without, is of the largest one.
export function differenceShares(d: FlameData, self: boolean): (box: number) => number {
	const { before, after } = d, delta = (box: number) => {
		const [from, to] = self ? d.ownSides(box) : [before![box], after![box]];
		return to - rounded(from);
	};
	let most = 0;
	for (let i = 0; i < d.count; i++)
		most = isGrey(d, i) ? most : Math.max(most, Math.abs(delta(i)));
	return (box) => most ? delta(box) / most : 0;
}
