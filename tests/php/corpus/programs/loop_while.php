<?php
// An endless while with break and continue.
namespace Corpus\LoopWhile;

function evens(int $n): int
{
	$i = 0;
	$sum = 0;
	while (true) {
		if (++$i > $n)
			break;
		if ($i & 1)
			continue;
		$sum += $i;
	}
	return $sum;
}

return [2251500, fn () => evens(3000)];
