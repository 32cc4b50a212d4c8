<?php
// foreach over packed and over hash arrays.
namespace Corpus\LoopForeach;

use function array_flip, md5, range, str_split;

function packed(array $a): int
{
	$sum = 0;
	foreach ($a as $k => $v) {
		$sum += $k * $v;
		if ($sum > 1000000)
			$sum -= 1000000;
	}
	return $sum;
}

function keyed(array $a): string
{
	$keys = '';
	foreach ($a as $k => $v)
		if ($v % 3 === 0)
			$keys .= $k;
	return $keys;
}

$letters = array_flip(str_split('etaoinshrdlucmfwypvbgkjqxz'));

return ['58c4d9f99385af8b35dd46f1c9e335e8', function () use ($letters) {
	$all = '';
	for ($i = 1; $i < 8; $i++)
		$all .= packed(range($i, 90)) . keyed($letters);
	return md5($all);
}];
