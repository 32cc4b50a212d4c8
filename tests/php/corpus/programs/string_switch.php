<?php
// A switch over strings, with a fall-through and a default.
namespace Corpus\StringSwitch;

use function array_pop, array_push, end, json_encode;

function run(array $words): array
{
	$stack = [];
	foreach ($words as $word) {
		switch ($word) {
			case 'dup':
				$stack[] = end($stack);
				break;
			case 'add':
			case 'plus':
				$stack[] = array_pop($stack) + array_pop($stack);
				break;
			case 'mul':
				$stack[] = array_pop($stack) * array_pop($stack) % 10007;
				break;
			case 'swap':
				[$a, $b] = [array_pop($stack), array_pop($stack)];
				array_push($stack, $a, $b);
				break;
			default:
				$stack[] = (int)$word;
		}
	}
	return $stack;
}

return ['[3458764513820537205]', function () {
	$words = ['1'];
	for ($i = 2; $i < 60; $i++)
		array_push($words, (string)$i, 'dup', 'mul', 'swap', 'dup', 'plus', 'add');
	return json_encode(run($words));
}];
