<?php
// Integer arithmetic in counted loops.
namespace Corpus\LoopInt;

use function intdiv;

function sum(int $n): int
{
	$sum = 0;
	for ($i = 0; $i < $n; $i++)
		$sum = ($sum + $i * 3) % 1000003;
	for ($i = $n; $i > 0; $i -= 3)
		$sum = intdiv($sum * 7 + $i, 3) & 0xfffffff;
	return $sum;
}

return [183609039, fn () => sum(2000)];
