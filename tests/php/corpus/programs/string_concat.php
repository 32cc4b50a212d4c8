<?php
// Strings that grow in loops, at the end and at the front.
namespace Corpus\StringConcat;

use function chr, md5;

function digits(int $n): string
{
	$s = '';
	$t = 'x';
	for ($i = 0; $i < $n; $i++) {
		$s .= $i;
		if ($i % 3 === 0)
			$s .= ',' . $t;
		$t = chr(97 + $i % 26) . ($i % 50 ? $t : '');
	}
	return $s . $t;
}

return ['553e8c438c40eea88a65fc5c1bd656e3', fn () => md5(digits(300))];
