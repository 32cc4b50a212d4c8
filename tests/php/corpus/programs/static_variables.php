<?php
// Static variables of functions, methods and closures.
namespace Corpus\StaticVariables;

use function count;

function counter(bool $reset = false): int
{
	static $n = 0, $history = [];
	if ($reset) {
		$n = 0;
		$history = [];
	}
	$history[] = $n * 2;
	return $n++ + count($history) + $history[$n >> 1];
}

class Memo
{
	public static function square(int $x): int
	{
		static $known = [], $hits = 0;
		if (isset($known[$x]))
			return $known[$x] + ++$hits * 0;
		if (count($known) > 20)
			$known = [];
		return $known[$x] = $x * $x;
	}
}

return [129170, function () {
	$sum = counter(true);
	$tick = function () { static $t = 10; return $t += 3; };
	for ($i = 0; $i < 150; $i++)
		$sum += counter() * ($i & 3) + Memo::square($i % 30) + $tick();
	return $sum;
}];
