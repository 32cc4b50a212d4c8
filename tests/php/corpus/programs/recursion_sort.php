<?php
// Quicksort in place by reference, and merge sort with copies.
namespace Corpus\RecursionSort;

use function array_slice, count, implode, md5;

function quick(array &$a, int $lo, int $hi): void
{
	if ($lo >= $hi)
		return;
	$pivot = $a[($lo + $hi) >> 1];
	for ($i = $lo, $j = $hi; $i <= $j;) {
		while ($a[$i] < $pivot)
			$i++;
		while ($a[$j] > $pivot)
			$j--;
		if ($i <= $j)
			[$a[$i++], $a[$j--]] = [$a[$j], $a[$i]];
	}
	quick($a, $lo, $j);
	quick($a, $i, $hi);
}

function merge(array $a): array
{
	if (count($a) < 2)
		return $a;
	$half = count($a) >> 1;
	$left = merge(array_slice($a, 0, $half));
	$right = merge(array_slice($a, $half));
	$out = [];
	$i = $j = 0;
	while (isset($left[$i]) || isset($right[$j]))
		$out[] = !isset($right[$j]) || isset($left[$i]) && $left[$i] <= $right[$j] ? $left[$i++] : $right[$j++];
	return $out;
}

return ['56a46f69f2c2377e1200433c2db58486', function () {
	$a = [];
	for ($i = 0, $x = 7; $i < 60; $i++)
		$a[] = $x = ($x * 1103 + 331) % 997;
	$b = $a;
	quick($b, 0, 59);
	return $b === merge($a) ? md5(implode(' ', $b)) : 'two orders';
}];
