// Colors of boxes in a file: the page's own, those of the original picture, or those of layers and packages; for a
// difference, by total or self. Also titles and links given to functions by --nameattr.

import { computed } from '@preact/signals';
import { DARK_TEXT, differenceColor, differenceShares } from '../flame/difference';
import type { FlameData } from '../flame/data';
import type { Paint } from '../flame/view';
import { rgb } from '../picture/digits';
import { parse } from '../picture/dom';
import { filtersOf, view } from '../state';
import { facts, type ColorBy } from './start';

export type Colors = ColorBy | 'page';

const MATCH = '#8b2fc9', MATCH_TEXT = '#ffffff', fills: Partial<Record<ColorBy, string[]>> = {};

export function firstColors(): Colors {
	const { colorBy, hasColors } = facts();
	return colorBy !== 'function' ? colorBy : hasColors ? 'function' : 'page';
}

export const colors = computed<Colors>(() => (filtersOf('color')[0] as Colors | undefined) || firstColors());
export const ofSelf = computed(() => (filtersOf('self')[0] ?? (facts().self ? '1' : '0')) === '1');
export const hasFrames = computed(() => view.value.by === '' || view.value.by === 'own');

export function paintOf(d: FlameData, graphs?: FlameData[]): Paint | null {
	if (d.before) {
		const shares = differenceShares(d, ofSelf.value, graphs), sign = facts().negate ? -1 : 1;
		return { fill: (box, dark) => differenceColor(sign * shares(box), dark), darkText: DARK_TEXT, match: MATCH, matchText: MATCH_TEXT };
	}
	const by = colors.value;
	if (by === 'page' || !hasFrames.value || !facts().fills[by])
		return null;
	const list = fills[by] ||= rgb(facts().fills[by]);
	return { fill: (box) => list[Math.min(d.frame[box], list.length - 1)], match: MATCH, matchText: MATCH_TEXT };
}

// --- Attributes ---

const attributesOf = (d: FlameData, box: number) => hasFrames.peek() ? facts().attributes?.[d.frame[box]] : undefined;

// Parses markup that has entities but no elements.
export function titleOf(d: FlameData, box: number): string {
	const title = attributesOf(d, box)?.[2];
	return title ? parse(`<title>${title}</title>`).textContent! : '';
}

export function follow(d: FlameData, box: number): boolean {
	const link = attributesOf(d, box)?.[1];
	if (!link)
		return false;
	parse(`<a${link}/>`).dispatchEvent(new MouseEvent('click'));
	return true;
}
