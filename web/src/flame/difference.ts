// Colors of a difference: from white to orange for more, to blue for less, which color-blind readers can
// distinguish. Changes within the noise are pale.

import { isSure } from './chance';
import { rounded, type FlameData } from './data';
import { isGray } from './gray';

// Same as in src/render/difference.c: squares of the saturation of the least certain change, and of one within the
// noise.
const CERTAIN = 0.09, CHANCE = 0.0144;

// On a dark page colors start at dark gray, dark enough for light text.
export const DARK_TEXT = '#f2f0ec';

export function differenceColor(share: number, dark?: boolean): string {
	const t = Math.min(1, Math.abs(share)) ** 0.5, gray = dark ? 64 : share ? 245 : 240;
	const strongest = dark ? (share > 0 ? [190, 78, 0] : [34, 104, 164]) : share > 0 ? [230, 97, 1] : [43, 123, 186];
	return `rgb(${strongest.map((c) => Math.round(gray + (c - gray) * t))})`;
}

// A change as a share of the largest one.
export function shareOf(delta: number, most: number, sure: boolean, known: boolean): number {
	const share = most && sure ? Math.min(1, Math.abs(delta) / most) : 0;
	return known ? Math.sign(delta) * (sure ? Math.max(CERTAIN, share) : CHANCE) : Math.sign(delta) * share;
}

// By box of `d`: its change, total or self, as a share of the largest one in all graphs with the same scale.
export function differenceShares(d: FlameData, self: boolean, graphs: FlameData[] = [d], chance = d.about.compared?.chance): (box: number) => number {
	const of = (d: FlameData, box: number): [delta: number, sure: boolean] => {
		const [from, to] = self ? d.ownSides(box) : [d.before![box], d.after![box]];
		return [to - rounded(from), isSure(chance, from, to)];
	};
	let most = 0;
	for (const g of graphs)
		for (let i = 0; i < g.count; i++) {
			const [delta, sure] = of(g, i);
			most = sure && !isGray(g, i) ? Math.max(most, Math.abs(delta)) : most;
		}
	return (box) => {
		const [delta, sure] = of(d, box);
		return shareOf(delta, most, sure, !!chance);
	};
}
