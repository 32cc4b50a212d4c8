<?php
// Global variables, by `global` and by $GLOBALS, as counters of loops.
namespace Corpus\LoopGlobals;

function step(int $by): void
{
	global $corpus_total, $corpus_index;
	$corpus_total += $by * $corpus_index;
}

return [134310, function () {
	global $corpus_total, $corpus_index;
	$corpus_total = 0;
	for ($corpus_index = 0; $corpus_index < 300; $corpus_index++) {
		step(3);
		if ($corpus_index % 5 === 0)
			$GLOBALS['corpus_total'] -= 4;
	}
	return $corpus_total;
}];
