<?php
if (!function_exists('corpus_scaled')) {
	function corpus_scaled(int $x): int
	{
		for ($k = 0; $k < 5; $k++)
			$x = $x * 3 % 101;
		return $x;
	}
}
$list = array_map('corpus_scaled', range(1, 5 + $i));
return ['total' => array_sum($list), 'list' => $list, 'scale' => fn (int $x): int => corpus_scaled($x + $i)];
