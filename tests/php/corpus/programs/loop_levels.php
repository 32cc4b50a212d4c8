<?php
// break and continue across two levels of loops.
namespace Corpus\LoopLevels;

use function array_sum, count, implode;

function primes(int $limit): array
{
	$found = [];
	for ($n = 2; $n < $limit; $n++) {
		foreach ($found as $p) {
			if ($p * $p > $n)
				break;
			if ($n % $p === 0)
				continue 2;
		}
		$found[] = $n;
	}
	return $found;
}

function first_pair(array $primes, int $sum): ?array
{
	$pair = null;
	foreach ($primes as $p) {
		foreach ($primes as $q) {
			if ($p + $q > $sum)
				break;
			if ($p + $q === $sum) {
				$pair = [$p, $q];
				break 2;
			}
		}
	}
	return $pair;
}

return ['62 8275 19+109', function () {
	$primes = primes(300);
	return count($primes) . ' ' . array_sum($primes) . ' ' . implode('+', first_pair($primes, 128));
}];
