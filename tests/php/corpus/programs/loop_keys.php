<?php
// A counted loop asks array_key_exists() for each key: the shape in which interrupts under JIT were first seen to give wrong sums.
namespace Corpus\LoopKeys;

use function array_key_exists, range;

function sum(array $path, int $n): int
{
	$sum = 0;
	for ($i = 0; $i < $n - 1; ++$i) {
		$e = $path[$i];
		if (!array_key_exists($e, $path))
			$path[$e] = 1;
		$sum += $path[$i];
	}
	return $sum;
}

return [55125, function () {
	$sum = 0;
	for ($i = 0; $i < 10; $i++)
		$sum += sum(range(1, 50), 50) * $i;
	return $sum;
}];
