<?php
// The Mandelbrot set: a loop of floats that ends by a comparison.
namespace Corpus\Mandelbrot;

function row(float $ci, int $width): int
{
	$total = 0;
	for ($x = 0; $x < $width; $x++) {
		$cr = $x / $width * 3.0 - 2.0;
		$zr = $zi = 0.0;
		$i = 0;
		while ($zr * $zr + $zi * $zi < 4 && $i < 50) {
			$t = $zr * $zr - $zi * $zi + $cr;
			$zi = 2 * $zr * $zi + $ci;
			$zr = $t;
			$i++;
		}
		$total = $total * 3 + $i & 0xffffff;
	}
	return $total;
}

return [8048928, function () {
	$sum = 0;
	for ($y = -1.0; $y < 1.0; $y += 0.25)
		$sum += row($y, 12);
	return $sum;
}];
