<?php
// References between variables, in arguments, in arrays and as return values.
namespace Corpus\References;

use function array_sum, count, json_encode;

class Box
{
	private array $slots = [1, 2, 3, 4];

	public function &slot(int $i): int
	{
		return $this->slots[$i];
	}

	public function sum(): int
	{
		return array_sum($this->slots);
	}
}

function swap(int &$a, int &$b): void
{
	[$a, $b] = [$b, $a];
}

function count_down(int &$n, array &$trail): void
{
	while ($n > 0) {
		$trail[] = $n;
		$n -= 3;
	}
}

return ['[{"x":7,"y":602},74,425,7361]', function () {
	$box = new Box;
	$a = ['x' => 1, 'y' => 2];
	$x = &$a['x'];
	$trail = [];
	for ($i = 0; $i < 50; $i++) {
		swap($a['x'], $a['y']);
		$x += $i;
		$slot = &$box->slot($i % 4);
		$slot += $x & 3;
		unset($slot);
		$n = $i;
		count_down($n, $trail);
	}
	$copy = $a;
	$copy['x'] = 7;
	return json_encode([$a, $box->sum(), count($trail), array_sum($trail)]);
}];
