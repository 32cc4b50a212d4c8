<?php
// Loops whose length depends on the data: Euclid, palindromes, run lengths.
namespace Corpus\LoopLengths;

use function decbin, strlen, strrev;

function gcd(int $a, int $b): int
{
	while ($b) {
		$t = $a % $b;
		$a = $b;
		$b = $t;
	}
	return $a;
}

function palindrome(string $s): bool
{
	for ($i = 0, $j = strlen($s) - 1; $i < $j; ++$i, --$j)
		if ($s[$i] !== $s[$j])
			return false;
	return true;
}

function runs(string $s): string
{
	$out = '';
	for ($i = 0, $n = strlen($s); $i < $n; $i += $k) {
		for ($k = 1; $i + $k < $n && $s[$i + $k] === $s[$i]; $k++);
		$out .= $s[$i] . $k;
	}
	return $out;
}

return ['6374 011202130312', function () {
	$sum = 0;
	for ($i = 1; $i < 40; $i++)
		for ($k = 1; $k < 10; $k++)
			$sum += gcd($i * 6, $k * 4);
	for ($i = 100; $i < 300; $i++)
		$sum += palindrome((string)$i) ? $i : 0;
	return $sum . ' ' . runs(strrev(decbin($sum)));
}];
