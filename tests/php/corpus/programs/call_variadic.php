<?php
// Variadic functions, spread of arrays and generators, by reference too.
namespace Corpus\CallVariadic;

use function count, func_num_args, range;

function sum(int ...$xs): int
{
	$sum = 0;
	foreach ($xs as $i => $x)
		$sum += $x * ($i + 1);
	return $sum;
}

function bump(int $by, int &...$xs): int
{
	foreach ($xs as &$x)
		$x += $by;
	return count($xs) + func_num_args();
}

function upto(int $n): \Generator
{
	for ($i = 0; $i < $n; $i++)
		yield $i;
}

return ['130675 1225 1225 1225', function () {
	$a = $b = $c = 0;
	$sum = 0;
	for ($i = 0; $i < 50; $i++) {
		$sum += sum(...range(1, $i % 9 + 1), ...upto($i % 5));
		$sum += bump($i, $a, $b, $c) + sum() + sum($a, ...[$b], ...[$c]);
		$merged = [...['x' => 1, 'y' => $i], ...['y' => 3], ...upto(2)];
		$sum += $merged['y'] + count($merged);
	}
	return "$sum $a $b $c";
}];
