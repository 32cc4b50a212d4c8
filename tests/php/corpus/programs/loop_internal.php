<?php
// Internal functions in conditions of loops, looked up in the namespace first, as most code calls them.
namespace Corpus\LoopInternal;

function work(int $n): int
{
	$stack = range(1, 20);
	$sum = 0;
	while (count($stack) > 3) {
		$v = array_pop($stack);
		if (abs($v - 10) < 4)
			array_unshift($stack, $v >> 1);
		$sum += abs(-$v) + ord(chr(65 + $v % 26));
		for ($i = 0; $i < $n && array_search($i, $stack, true) === false; $i++)
			$sum += intdiv($i, 2);
		if ($sum > 1000000)
			throw new \RuntimeException('the stack never empties');
	}
	return $sum;
}

return [6087, fn () => work(8) + work(3) + work(12)];
