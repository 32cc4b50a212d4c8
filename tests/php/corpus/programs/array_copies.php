<?php
// Copies of arrays that are written after they were shared.
namespace Corpus\ArrayCopies;

use function abs, array_shift, range;

function branch(array $board, int $row, int $n): int
{
	if ($row === $n)
		return 1;
	$found = 0;
	for ($col = 0; $col < $n; $col++) {
		foreach ($board as $r => $c)
			if ($c === $col || abs($c - $col) === $row - $r)
				continue 2;
		$next = $board;
		$next[] = $col;
		$found += branch($next, $row + 1, $n);
	}
	return $found;
}

function shared(int $n): int
{
	$a = ['list' => range(1, 10), 'name' => 'a'];
	$copies = [];
	for ($i = 0; $i < $n; $i++) {
		$copies[] = $a;
		$a['list'][$i % 10] += $i;
		$a['list'][] = $i;
		array_shift($a['list']);
	}
	$sum = 0;
	foreach ($copies as $k => $copy)
		$sum += $copy['list'][$k % 10] * $k;
	return $sum;
}

return ['10 2 23330', fn () => branch([], 0, 5) . ' ' . branch([], 0, 4) . ' ' . shared(40)];
