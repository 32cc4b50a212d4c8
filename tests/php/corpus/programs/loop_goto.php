<?php
// Loops made of goto, forwards and backwards.
namespace Corpus\LoopGoto;

function work(int $n): int
{
	$sum = $i = $inner = 0;
again:
	if ($i >= $n)
		goto done;
	$inner = 0;
inside:
	$sum += $i ^ $inner;
	if (++$inner < 5)
		goto inside;
	$i++;
	if ($i % 4 === 2)
		goto again;
	$sum++;
	goto again;
done:
	return $sum;
}

return [399300, fn () => work(400)];
