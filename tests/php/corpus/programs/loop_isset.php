<?php
// isset(), empty(), unset() and ?? decide what a loop does next.
namespace Corpus\LoopIsset;

use function array_sum, count;

function work(int $n): string
{
	$seen = [];
	$dropped = $empty = $fresh = 0;
	for ($i = 0; $i < $n; $i++) {
		$k = $i * 7 % 31;
		if (isset($seen[$k])) {
			if (++$seen[$k] > 3) {
				unset($seen[$k]);
				$dropped += $k;
			}
		} else {
			$seen[$k] = $i & 1;
			$fresh++;
		}
		if (empty($seen[$i % 31]))
			$empty++;
		$fresh += $seen[$i % 5] ?? 2;
	}
	return "$dropped $empty $fresh " . array_sum($seen) . ' ' . count($seen);
}

return ['2790 217 1764 40 28', fn () => work(800)];
