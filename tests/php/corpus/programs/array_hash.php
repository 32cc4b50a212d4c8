<?php
// Arrays with string keys: words counted, sorted, looked up.
namespace Corpus\ArrayHash;

const TEXT = 'the cat and the dog and the bird saw a cat that saw the dog while a bird sang to the dog and a cat';

function counts(string $text): array
{
	$counts = [];
	foreach (explode(' ', $text) as $word) {
		if (!isset($counts[$word]))
			$counts[$word] = 0;
		$counts[$word]++;
	}
	arsort($counts);
	ksort($counts);
	return $counts;
}

return ['c004f3ecacdde21088a3e89dcbe04f07', function () {
	$all = [];
	for ($i = 0; $i < 5; $i++) {
		foreach (counts(TEXT . str_repeat(' and the dog', $i)) as $word => $n)
			$all[$word . strlen($word)][] = $n;
	}
	return md5(json_encode($all));
}];
