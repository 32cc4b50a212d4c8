<?php
// A packed array of flags, written with a stride: the sieve of Eratosthenes.
namespace Corpus\ArraySieve;

use function array_fill, array_sum, count, end;

function sieve(int $n): array
{
	$composite = array_fill(0, $n + 1, false);
	$primes = [];
	for ($i = 2; $i <= $n; $i++) {
		if ($composite[$i])
			continue;
		$primes[] = $i;
		for ($j = $i * $i; $j <= $n; $j += $i)
			$composite[$j] = true;
	}
	return $primes;
}

return ['168 76127 997', function () {
	$primes = sieve(1000);
	return count($primes) . ' ' . array_sum($primes) . ' ' . end($primes);
}];
