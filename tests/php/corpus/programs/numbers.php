<?php
// Integers that overflow into floats, and comparisons between types.
namespace Corpus\Numbers;

use function is_float, json_encode;

function grow(int $n): array
{
	$value = 3;
	$turned = 0;
	for ($i = 0; $i < $n; $i++) {
		$value *= 5;
		if (is_float($value)) {
			$turned++;
			$value = (int)($value / 1e12);
		}
		if ('10' == $i || ($i <=> 7) === 1 && $i % 9 == '0')
			$turned += 100;
	}
	return [$value, $turned, PHP_INT_MAX + $n];
}

return ['[91648017578125,5628,9.223372036854776e+18]', fn () => json_encode(grow(500))];
