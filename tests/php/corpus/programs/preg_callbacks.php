<?php
// Callbacks of preg_replace_callback(), and matches taken apart.
namespace Corpus\PregCallbacks;

use function implode, md5, preg_match_all, preg_replace_callback, preg_split, str_repeat, strlen, substr;

function expand(string $text, array $vars, int $depth = 0): string
{
	if ($depth > 5)
		return $text;
	return preg_replace_callback('/\{(\w+)(?::(\d+))?\}/', function (array $m) use ($vars, $depth): string {
		$value = $vars[$m[1]] ?? '?';
		if (isset($m[2]))
			$value = str_repeat($value, (int)$m[2]);
		return expand($value, $vars, $depth + 1);
	}, $text);
}

return ['6ce6b96e2bca7ce71fd7f654dba5ffc232d6ffd7912456c60996f857898c7f48c2f9b67', function () {
	$all = '';
	for ($i = 0; $i < 12; $i++) {
		$all .= expand('{greet}, {name:2}! {missing} {n}', ['greet' => 'Hi {n}', 'name' => "<{n}>", 'n' => "$i"]);
		preg_match_all('/(?<word>[a-z]+)(?<digit>\d)?/i', $all, $m, PREG_SET_ORDER | PREG_UNMATCHED_AS_NULL);
		foreach ($m as ['word' => $word, 'digit' => $digit])
			$all .= $digit === null ? strlen($word) % 10 : 'd';
		$all = md5($all) . implode(preg_split('/[aeiou]/', substr($all, 0, 40)));
	}
	return $all;
}];
