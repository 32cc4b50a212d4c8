<?php
// do-while loops of different length: the steps of the Collatz sequence.
namespace Corpus\LoopDo;

function steps(int $n): int
{
	$steps = 0;
	do {
		$n = $n & 1 ? 3 * $n + 1 : $n >> 1;
		if (++$steps > 1000)
			throw new \RuntimeException('the sequence does not end');
	} while ($n !== 1);
	return $steps;
}

return [54598, function () {
	$sum = 0;
	for ($i = 2; $i < 60; $i++)
		$sum += steps($i) * $i;
	return $sum;
}];
