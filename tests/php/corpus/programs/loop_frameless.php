<?php
// Functions that PHP 8.4 calls without a frame, as conditions and values in loops.
namespace Corpus\LoopFrameless;

use function array_key_exists, implode, in_array, is_numeric, max, min, str_contains, str_replace, str_starts_with, strlen, strpos, substr, trim;

function work(array $words, int $n): int
{
	$sum = 0;
	for ($i = 0; $i < $n; $i++) {
		$word = $words[$i % 6];
		if (in_array($word, ['pear', 'plum'], true))
			$sum += min($i, 40);
		if (str_contains($word, 'ea'))
			$sum += max($i, 7);
		if (str_starts_with($word, 'p') && is_numeric('1' . $i))
			$sum += 3;
		if (!array_key_exists($i % 11, $words))
			$sum += strpos($word . 'x', 'x');
		$sum += strlen(trim(" $word ")) + strlen(substr($word, 1, 2));
		$sum += strlen(implode(',', [$word, $i])) + strlen(str_replace('p', 'qq', $word));
	}
	return $sum;
}

return [8737, fn () => work(['apple', 'pear', 'plum', 'fig', 'peach', 'lime'], 150)];
