// The number of standard errors that chance reaches among that many functions: diff_sigma() of
// src/profile/diff_check.c.

// 1 - erf(x) for x above zero, to seven digits (Numerical Recipes, erfcc).
function erfc(x: number): number {
	const t = 1 / (1 + x / 2), of = [0.17087277, -0.82215223, 1.48851587, -1.13520398, 0.27886807, -0.18628806, 0.09678418, 0.37409196, 1.00002368, -1.26551223];
	return t * Math.exp(-x * x + of.reduce((sum, c) => sum * t + c));
}

export function sigmaOf(count: number): number {
	let sigma = 1.96;
	while (sigma < 8 && erfc(sigma / Math.SQRT2) * count > 0.05)
		sigma += 0.01;
	return sigma;
}
