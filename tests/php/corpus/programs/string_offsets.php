<?php
// Strings that are written by offset: reversed, and turned by ROT13.
namespace Corpus\StringOffsets;

use function chr, md5, ord, str_repeat, strlen, strrev;

function reversed(string $s): string
{
	for ($i = 0, $j = strlen($s) - 1; $i < $j; $i++, $j--) {
		$c = $s[$i];
		$s[$i] = $s[$j];
		$s[$j] = $c;
	}
	return $s;
}

function rot(string $s): string
{
	for ($i = 0; isset($s[$i]); $i++)
		if (ctype_like($s[$i]))
			$s[$i] = chr((ord($s[$i]) - 97 + 13) % 26 + 97);
	return $s;
}

function ctype_like(string $c): bool
{
	return $c >= 'a' && $c <= 'z';
}

return ['b5652e86f1ffaf030c00e3a9cb7b1954', function () {
	$s = str_repeat('never change a program ', 8);
	return rot(reversed(rot($s))) === strrev($s) ? md5(rot(reversed($s))) : 'turned wrongly';
}];
