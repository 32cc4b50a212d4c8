<?php
// Calls as arguments of calls, several half made at once.
namespace Corpus\CallNested;

function a(int $x, int $y = 2): int { return $x * $y % 1009; }
function b(int ...$xs): int { return array_sum($xs); }
function c(array $xs): array { return array_map(fn ($x) => a($x, 3), $xs); }

class Chain
{
	public function __construct(private int $n) {}
	public function with(int $n): self { return new self($this->n + $n); }
	public function n(): int { return $this->n; }
}

return [90892, function () {
	$sum = 0;
	for ($i = 0; $i < 80; $i++) {
		$sum += b(a($i, b(1, $i)), a(max($i, a(3))), ...c([$i, a($i), min(a(7, $i), 5)]));
		$sum += (new Chain(a($i)))->with(b(...c([1, 2, $i])))->with((new Chain($i))->with(a(5))->n())->n();
	}
	return $sum;
}];
