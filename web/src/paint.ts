// Colors of boxes that differ from the theme's: those of a difference.

import { DARK_TEXT, differenceColor, differenceShares } from './flame/difference';
import type { FlameData } from './flame/data';
import type { Paint } from './flame/view';
import { selfColors } from './state';

export function paintOf(d: FlameData, graphs?: FlameData[]): Paint | null {
	if (!d.before)
		return null;
	const shares = differenceShares(d, selfColors.value, graphs);
	return { fill: (box, dark) => differenceColor(shares(box), dark), darkText: DARK_TEXT, match: '#8b2fc9', matchText: '#ffffff' };
}
