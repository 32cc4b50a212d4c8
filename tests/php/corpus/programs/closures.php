<?php
// Closures: by value, by reference, bound to objects and classes, recursive, partially applied.
namespace Corpus\Closures;

use function max;

class Safe
{
	private int $code = 4;
	private static int $tries = 0;

	public function opener(): \Closure
	{
		return fn (int $by) => $this->code += $by;
	}

	public static function reset(): void { self::$tries = 0; }
}

function curry(callable $fn, mixed ...$first): \Closure
{
	return fn (mixed ...$rest) => $fn(...$first, ...$rest);
}

return ['75590 50', function () {
	Safe::reset();
	$safe = new Safe;
	$open = $safe->opener();
	$peek = function () { return $this->code; };
	$tries = \Closure::bind(static fn () => ++self::$tries, null, Safe::class);
	$count = 0;
	$up = function () use (&$count) { return ++$count; };
	$factorial = function (int $n) use (&$factorial): int { return $n < 2 ? 1 : $n * $factorial($n - 1); };
	$sum = 0;
	for ($i = 0; $i < 50; $i++) {
		$fixed = fn ($x) => $x + $i + $count;
		$sum += $open($i) + $peek->call($safe) + $tries() + $up() + $fixed(2);
		$sum += $factorial($i % 7) + curry(max(...), $i, 3)(7, $i + 1);
		$sum += $peek->bindTo($safe, Safe::class)();
	}
	return "$sum $count";
}];
