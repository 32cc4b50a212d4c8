<?php
// Functions that call each other: parity, and methods that descend into a nested list.
// With a ternary in place of the ifs, PHP 8.2's tracing JIT gives wrong results by itself.
namespace Corpus\RecursionMutual;

use function is_array;

function even(int $n): bool
{
	if ($n === 0)
		return true;
	return odd($n - 1);
}

function odd(int $n): bool
{
	if ($n === 0)
		return false;
	return even($n - 1);
}

class Depth
{
	public int $deepest = 0;

	public function items(array $items, int $depth): int
	{
		$sum = 0;
		foreach ($items as $item) {
			$value = $this->item($item, $depth);
			$sum += $value;
		}
		return $sum;
	}

	private function item(int|array $item, int $depth): int
	{
		if ($depth > $this->deepest)
			$this->deepest = $depth;
		return is_array($item) ? $this->items($item, $depth + 1) : $item * $depth;
	}
}

return [1386, function () {
	$sum = 0;
	for ($i = 0; $i < 14; $i++) {
		$depth = new Depth;
		$sum += $depth->items([$i, [1, [$i, [2, 3], []], 4], [[[[$i]]]]], 1) + $depth->deepest;
		$sum += even($i * 3) ? 1 : 10;
	}
	return $sum;
}];
