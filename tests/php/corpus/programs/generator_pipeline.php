<?php
// Lazy pipelines: generators that read other generators, some not to their end.
namespace Corpus\GeneratorPipeline;

function count_from(int $i): \Generator
{
	while (true)
		yield $i++;
}

function map(callable $fn, iterable $in): \Generator
{
	foreach ($in as $k => $v)
		yield $k => $fn($v);
}

function filter(callable $fn, iterable $in): \Generator
{
	foreach ($in as $k => $v)
		if ($fn($v))
			yield $k => $v;
}

function take(int $n, iterable $in): \Generator
{
	foreach ($in as $k => $v) {
		if ($n-- <= 0)
			return;
		yield $k => $v;
	}
}

return [15916470, function () {
	$squares = map(fn ($x) => $x * $x, count_from(3));
	$odd = filter(fn ($x) => $x % 5 !== 1, $squares);
	$sum = 0;
	foreach (take(60, $odd) as $k => $v)
		$sum += $k * $v;
	return $sum;
}];
