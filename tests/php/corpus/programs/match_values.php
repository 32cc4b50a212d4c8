<?php
// match over integers, strings and conditions.
namespace Corpus\MatchValues;

function name(int $i): string
{
	return match (true) {
		$i % 15 === 0 => 'fizzbuzz',
		$i % 5 === 0 => 'buzz',
		$i % 3 === 0 => 'fizz',
		default => match ($i % 7) {
			0, 1 => 'low',
			2, 3, 4 => 'middle',
			default => (string)$i,
		},
	};
}

function value(string $name): int
{
	try {
		return match ($name) {
			'fizz' => 1, 'buzz' => 2, 'fizzbuzz' => 3, 'low' => 4, 'middle' => 5,
		};
	} catch (\UnhandledMatchError) {
		return 6;
	}
}

return [661082, function () {
	$sum = 0;
	for ($i = 0; $i < 200; $i++)
		$sum = ($sum * 7 + value(name($i))) % 1000003;
	return $sum;
}];
