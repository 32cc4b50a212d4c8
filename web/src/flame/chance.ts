// Detects changes within the noise like src/profile/diff_check.c: by the standard error of two sample counts.

// Number of standard errors, the value of one sample before and after, and the base of shares after: 0 if no shares
// are compared.
export type Chance = [sigma: number, before: number, after: number, whole: number];

// Without `chance` everything was measured.
export function isSure(chance: Chance | undefined, from: number, to: number): boolean {
	if (!chance)
		return true;
	const [sigma, a, b, whole] = chance, x = Math.max(from, 0), y = Math.max(to, 0), expected = (x * b + y * a) / (a + b);
	const variance = Math.max(expected * (a + b), x * a + y * b) * (whole ? Math.max(0, 1 - expected / whole) : 1);
	return Math.abs(to - from) > sigma * Math.sqrt(variance) + (a + b) / 2;
}
