<?php
// Callbacks of array_map, array_filter, array_reduce and array_walk.
namespace Corpus\ArrayCallbacks;

use function array_filter, array_keys, array_map, array_reduce, array_walk, count, intval, max, range;

return [148518, function () {
	$sum = 0;
	for ($i = 1; $i < 5; $i++) {
		$a = array_map(fn ($x) => $x * $i, range(1, 30));
		$b = array_filter($a, static fn ($x) => $x % 5 !== 0);
		array_walk($b, function (&$v, $k, $by) { $v += $k * $by; }, 2);
		$sum += array_reduce($b, fn ($carry, $x) => ($carry * 3 + $x) % 65521, 1);
		$sum += count(array_map(null, $a, $b)) + max(array_map(intval(...), array_keys($b)));
	}
	return $sum;
}];
