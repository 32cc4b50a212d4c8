<?php
// The edit distance of two words, row by row, beside PHP's own.
namespace Corpus\DynamicProgramming;

use function end, implode, levenshtein, min, range, strlen;

function distance(string $a, string $b): int
{
	$row = range(0, strlen($b));
	for ($i = 1, $n = strlen($a); $i <= $n; $i++) {
		$next = [$i];
		for ($j = 1, $m = strlen($b); $j <= $m; $j++) {
			$cost = $a[$i - 1] === $b[$j - 1] ? 0 : 1;
			$next[$j] = min($row[$j] + 1, $next[$j - 1] + 1, $row[$j - 1] + $cost);
		}
		$row = $next;
	}
	return $row[strlen($b)];
}

return ['037677306667760388663078768701778810', function () {
	$words = ['kitten', 'sitting', 'saturday', 'sunday', 'profile', 'profiler'];
	$all = [];
	foreach ($words as $a)
		foreach ($words as $b) {
			$all[] = distance($a, $b);
			if (end($all) !== levenshtein($a, $b))
				return "$a to $b is not " . end($all);
		}
	return implode('', $all);
}];
