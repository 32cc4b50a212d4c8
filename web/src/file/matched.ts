// The share that a search matched: for an estimate, what is known about functions; for data that lacks boxes, a lower
// limit.

import { matchedRange, searchBoxes, type FlameData, type Found } from '../flame/data';
import * as format from '../format';
import { matchedSign } from '../picture/estimate';
import { unreversed } from './answers';

export function matchedWords(data: FlameData, found: Found, zoomed: number, byName: Uint8Array): string {
	const whole = zoomed === 0 && data.about.reverse ? unreversed() : data;
	const [least, most] = matchedRange(whole, whole === data ? found : searchBoxes(whole, byName, 0), zoomed);
	const estimated = !!data.exact, sign = estimated ? matchedSign(whole, zoomed, most > least) : most > least ? '≥ ' : '';
	return `${sign}${format.share(estimated ? most : least, data.width[zoomed])} matched`;
}
