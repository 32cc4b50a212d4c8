<?php
// Matrices of floats and integers, multiplied by three nested loops.
namespace Corpus\ArrayMatrix;

use function count, json_encode, md5;

function multiply(array $a, array $b): array
{
	$n = count($a);
	$c = [];
	for ($i = 0; $i < $n; $i++) {
		$row = [];
		for ($j = 0; $j < $n; $j++) {
			$sum = 0;
			for ($k = 0; $k < $n; $k++)
				$sum += $a[$i][$k] * $b[$k][$j];
			$row[] = $sum;
		}
		$c[] = $row;
	}
	return $c;
}

function matrix(int $n, int|float $scale): array
{
	$m = [];
	for ($i = 0; $i < $n; $i++)
		for ($j = 0; $j < $n; $j++)
			$m[$i][$j] = ($i * 3 + $j * 5) % 11 * $scale;
	return $m;
}

return ['d20a54089933dee7e5678d2e06a2ce48', function () {
	$whole = multiply(matrix(9, 2), matrix(9, 3));
	$half = multiply(matrix(7, 0.5), matrix(7, 0.25));
	return md5(json_encode([$whole, $half]));
}];
