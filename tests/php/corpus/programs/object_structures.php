<?php
// Data structures of SPL, and maps whose keys are objects.
namespace Corpus\ObjectStructures;

use function array_shift, array_sum, count, iterator_to_array;

return ['897046 72 3160 3370', function () {
	$heap = new \SplPriorityQueue;
	$queue = new \SplQueue;
	$fixed = new \SplFixedArray(16);
	$map = new \SplObjectStorage;
	$weak = new \WeakMap;
	$keys = [];
	for ($i = 0; $i < 80; $i++) {
		$heap->insert($i, $i * 37 % 83);
		$queue[] = $i;
		if ($i % 3 === 0)
			$queue->enqueue($queue->dequeue() * 2);
		$fixed[$i % 16] = ($fixed[$i % 16] ?? 0) + $i;
		$key = $keys[] = (object)['i' => $i];
		$map[$key] = $i;
		$weak[$key] = $i * 2;
		if ($i % 10 === 9)
			array_shift($keys);
	}
	$sum = 0;
	while (!$heap->isEmpty())
		$sum = ($sum * 5 + $heap->extract()) % 1000003;
	foreach ($map as $n => $key)
		$sum += $n * $map[$key] + $key->i;
	unset($map, $key);
	foreach ($weak as $value)
		$sum += $value;
	return $sum . ' ' . count($weak) . ' ' . array_sum($fixed->toArray()) . ' ' . array_sum(iterator_to_array($queue));
}];
