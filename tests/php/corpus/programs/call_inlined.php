<?php
// Small functions and methods, which the compiler may inline into the loop that calls them.
namespace Corpus\CallInlined;

function add(int $a, int $b): int { return $a + $b; }
function twice(int $a): int { return add($a, $a); }
function clamp(int $x): int { return $x > 1000 ? $x - 1000 : $x; }

final class Counter
{
	private int $n = 0;

	public function up(int $by): void { $this->n = clamp($this->n + $by); }
	public function get(): int { return $this->n; }
	public static function one(): int { return 1; }
}

function work(int $n): int
{
	$counter = new Counter;
	$sum = 0;
	for ($i = 0; $i < $n; $i++) {
		$counter->up(twice($i) + Counter::one());
		$sum = add($sum, $counter->get());
	}
	return $sum;
}

return [192400, fn () => work(400)];
