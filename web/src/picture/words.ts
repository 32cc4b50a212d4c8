// Amounts as a picture says them, the same as src/base/amount.c.

export interface Unit {
	unit: 'count' | 'time' | 'bytes';
	countName: string | null;	// null: the unit says it all
}

type Step = [from: number, size: number, name: string];

const TIMES: Step[] = [[3600e9, 3600e9, 'h'], [600e9, 60e9, 'min'], [1e9, 1e9, 's'], [1e6, 1e6, 'ms'], [1e3, 1e3, 'µs'], [0, 1, 'ns']];
const SIZES: Step[] = [[2 ** 40, 2 ** 40, 'TiB'], [2 ** 30, 2 ** 30, 'GiB'], [2 ** 20, 2 ** 20, 'MiB'], [1024, 1024, 'KiB'], [0, 1, 'B']];

export function amount(v: number, { unit, countName }: Unit): string {
	if (v < 0)
		return `−${amount(-v, { unit, countName })}`;
	if (countName !== null)
		return `${v.toLocaleString('en-US')} ${countName}`;
	if (unit === 'count')
		return v.toLocaleString('en-US');
	const [, size, name] = (unit === 'time' ? TIMES : SIZES).find(([from]) => v >= from)!, shown = v / size;
	return `${shown.toFixed(size === 1 || shown >= 99.95 ? 0 : shown >= 9.995 ? 1 : 2)} ${name}`;
}

export function percent(part: number, whole: number): string {
	return `${(whole ? 100 * part / whole : 0).toFixed(2)}%`;
}

// What a frame took before and after, the same as src/render/difference.c without what it took itself. Points are percent
// of everything before.
export function difference(before: number, after: number, allBefore: number, allAfter: number, unit: Unit): string {
	const bare: Unit = unit.countName === null ? unit : { ...unit, unit: 'count', countName: null };
	const signed = (v: number, what: string) => `${v < 0 ? '-' : '+'}${Math.abs(v).toFixed(2)}${what}`;
	const delta = after - before, base = allBefore > 0 ? allBefore : allAfter;
	let change = 'no change';
	if (delta) {
		change = `${delta > 0 ? '+' : '-'}${amount(Math.abs(delta), bare)}, ${before ? signed(100 * delta / before, '%') : 'new'}`;
		if (base > 0)
			change += `, ${signed(100 * delta / base, ' points')}`;
	}
	return `before ${amount(before, unit)}, ${percent(before, allBefore)}; after ${amount(after, unit)}, ${percent(after, allAfter)}; ${change}`;
}

export function escapeRegExp(text: string): string {
	return text.replace(/[\\^$.*+?()[\]{}|]/g, '\\$&');
}

// undefined if it is no regular expression.
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
