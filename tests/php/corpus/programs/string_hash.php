<?php
// Offsets of strings, read in a loop.
namespace Corpus\StringHash;

use function ord, str_repeat, strlen;

function hash(string $s): int
{
	$h = 5381;
	$l = strlen($s);
	for ($i = 0; $i < $l; $i++)
		$h = (($h << 5) + $h + ord($s[$i])) & 0xffffffff;
	return $h;
}

return ['2692391277 5381 2185248723', fn () => hash(str_repeat('abcdef', 200)) . ' ' . hash('') . ' ' . hash(str_repeat('z', 99))];
