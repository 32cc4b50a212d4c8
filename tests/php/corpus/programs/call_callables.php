<?php
// First-class callables of functions, methods and static methods, beside plain calls of the same.
namespace Corpus\CallCallables;

use function call_user_func_array, md5, str_replace, strrev, strtolower, substr;

function slug(string $s): string
{
	return strtolower(str_replace(' ', '-', $s));
}

class Format
{
	public function __construct(private string $with = '|') {}
	public function wrap(string $s): string { return $this->with . $s . $this->with; }
	public static function short(string $s): string { return substr($s, 0, 6); }
	public function __call(string $name, array $args): string { return $name . $args[0]; }
}

return ['588a6355cddc0429af6a4063f8c69894', function () {
	$format = new Format;
	$steps = [slug(...), $format->wrap(...), Format::short(...), strrev(...), $format->magic(...), (new Format('-'))->wrap(...)];
	$text = '';
	for ($i = 0; $i < 60; $i++) {
		$s = "Title No $i";
		foreach ($steps as $k => $step)
			if (($i + $k) % 3)
				$s = $step($s);
		$text .= slug($s) . $format->wrap(Format::short($s)) . call_user_func_array($steps[$i % 6], [$s]);
	}
	return md5($text);
}];
