<?php
// Nested loops write nested arrays.
namespace Corpus\LoopNested;

function table(int $n): int
{
	$a = [];
	for ($i = 0; $i < $n; $i++) {
		for ($j = 0; $j < 5; $j++)
			$a[$i % 7][$j] = ($a[$i % 7][$j] ?? 0) + $i * $j;
	}
	$sum = 0;
	foreach ($a as $row)
		foreach ($row as $k => $v)
			$sum += $v + $k;
	return $sum;
}

return [199070, fn () => table(200)];
