<?php
// Floating point numbers that live in registers across the turns of a loop.
namespace Corpus\LoopFloat;

function series(int $n): float
{
	$x = 1.5;
	$y = 0.0;
	for ($i = 0; $i < $n; $i++) {
		$y += $x * $i;
		$x = $x * 0.999;
	}
	return $y;
}

return [662724.0802596705, fn () => series(1500)];
