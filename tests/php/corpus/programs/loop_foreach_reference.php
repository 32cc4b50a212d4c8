<?php
// foreach by reference, which changes the array it runs through.
namespace Corpus\LoopForeachReference;

use function count, implode, md5, range;

function smooth(array $a): array
{
	$before = 0;
	foreach ($a as $k => &$v) {
		$v = ($v + $before) & 0xffff;
		$before = $v;
		if ($k % 10 === 9 && count($a) < 60)
			$a[] = $k;
	}
	unset($v);
	return $a;
}

return ['5dc96e4fbeccdec1c60a214275ec1fa8', function () {
	$a = range(1, 40);
	for ($i = 0; $i < 10; $i++)
		$a = smooth($a);
	return md5(implode(' ', $a));
}];
