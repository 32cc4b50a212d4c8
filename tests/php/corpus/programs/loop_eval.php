<?php
// Code that is compiled by eval() in a loop, and functions that eval() made.
namespace Corpus\LoopEval;

return [397962, function () {
	static $poly = null;
	$poly ??= eval('return function (int $n): int { for ($s = 0, $i = 0; $i < $n; $i++) $s += $i * $i - 3; return $s; };');
	$sum = 0;
	for ($i = 0; $i < 12; $i++) {
		$sum += eval("\$t = 0; for (\$k = 0; \$k < 30; \$k++) \$t += \$k * $i; return \$t;");
		$sum += $poly(40 + $i);
	}
	return $sum;
}];
