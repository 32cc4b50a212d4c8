<?php
// Generators that are fed by send(): a running mean.
namespace Corpus\GeneratorSend;

use function intdiv;

function mean(): \Generator
{
	$sum = $n = 0;
	$mean = null;
	while (($x = yield $mean) !== null) {
		$sum += $x;
		$n++;
		$mean = intdiv($sum * 10, $n);
	}
	return $n;
}

return ['65122 150', function () {
	$total = 0;
	$mean = mean();
	$mean->current();
	for ($i = 0; $i < 150; $i++)
		$total += $mean->send($i * $i % 97);
	$mean->send(null);
	return $total . ' ' . $mean->getReturn();
}];
