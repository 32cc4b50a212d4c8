<?php
// usort and its kin with comparisons written in PHP.
namespace Corpus\ArraySort;

use function json_encode, md5, strcmp, strlen, substr, uasort, uksort, usort;

function by_length(string $a, string $b): int
{
	return strlen($a) <=> strlen($b) ?: strcmp($a, $b);
}

class Order
{
	public static function descending(int $a, int $b): int
	{
		return $b <=> $a;
	}
}

return ['7f022b08da8712daac83b5eb3af0af20', function () {
	$x = 12345;
	$numbers = $words = [];
	for ($i = 0; $i < 60; $i++) {
		$x = ($x * 1103515245 + 12345) & 0x7fffffff;
		$numbers[] = $x % 1000;
		$words['k' . $i] = substr(md5((string)$i), 0, 1 + $x % 6);
	}
	usort($numbers, [Order::class, 'descending']);
	uasort($words, __NAMESPACE__ . '\by_length');
	uksort($numbers, fn (int $a, int $b): int => $a % 7 <=> $b % 7 ?: $a <=> $b);
	return md5(json_encode([$numbers, $words]));
}];
