// Formats amounts for people by the same rules as src/profile/amount.c; tests/data/amounts.tsv has examples for both.

type Step = [from: number, size: number, name: string];

// Minutes begin at ten and hours at one: below that, people compare seconds.
export const TIMES: Step[] = [[3600e9, 3600e9, 'h'], [600e9, 60e9, 'min'], [1e9, 1e9, 's'], [1e6, 1e6, 'ms'], [1e3, 1e3, 'µs'], [0, 1, 'ns']];
export const SIZES: Step[] = [[2 ** 40, 2 ** 40, 'TiB'], [2 ** 30, 2 ** 30, 'GiB'], [2 ** 20, 2 ** 20, 'MiB'], [1024, 1024, 'KiB'], [0, 1, 'B']];

// Without Intl, whose first use takes a tenth of the time for opening a file.
export const grouped = (digits: string) => digits.replace(/\d+/, (whole) => whole.replace(/\B(?=(\d{3})+$)/g, ','));

// The number of decimals for three significant digits.
export function decimals(v: number, most: number): number {
	let n = 0;
	for (let least = 99.95; n < most && v < least; least /= 10)
		n++;
	return n;
}

// Three significant digits, but at least the whole part, and no decimals in the smallest unit. A value that rounds up
// to the next unit uses that one.
export function scaled(v: number, steps: Step[]): string {
	const size = Math.abs(v), at = steps.findIndex(([from]) => size >= from), [, unit, name] = steps[at];
	const shown = (v / unit).toFixed(unit === 1 ? 0 : decimals(size / unit, 2)), rounded = Number(shown) * unit;
	return at && Math.abs(rounded) >= steps[at - 1][0] ? scaled(rounded, steps) : `${shown} ${name}`;
}

// Fractions of counts: as many digits as needed, without trailing zeros.
export function parts(millionths: number): string {
	const size = Math.abs(millionths), digits = decimals(size / 1e6, 6), rounded = Math.round(size / 10 ** (6 - digits)) / 10 ** digits;
	return grouped(`${millionths < 0 && rounded ? '-' : ''}${rounded.toFixed(digits).replace(/(\.\d*?)0+$/, '$1').replace(/\.$/, '')}`);
}

export function amount(v: number, unit: string): string {
	return unit === 'nanoseconds' ? scaled(v, TIMES) : unit === 'bytes' ? scaled(v, SIZES) : unit === 'millionths' ? parts(v) : grouped(v.toFixed(0));
}

export function share(part: number, all: number): string {
	const percent = all ? 100 * part / all : 0, size = Math.abs(percent);
	return `${percent >= 99.95 && percent < 100.05 ? '100' : percent.toFixed(size < 9.95 ? 2 : 1)}%`;
}
