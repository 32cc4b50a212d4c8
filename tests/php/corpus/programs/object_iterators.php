<?php
// foreach over Iterator, IteratorAggregate and SPL's iterators.
namespace Corpus\ObjectIterators;

use function implode, iterator_to_array;

class Range implements \Iterator
{
	private int $at;

	public function __construct(private int $from, private int $to) { $this->at = $from; }
	public function current(): int { return $this->at * 3; }
	public function key(): int { return $this->at; }
	public function next(): void { $this->at++; }
	public function rewind(): void { $this->at = $this->from; }
	public function valid(): bool { return $this->at < $this->to; }
}

class Pair implements \IteratorAggregate
{
	public function __construct(private iterable $a, private iterable $b) {}

	public function getIterator(): \Iterator
	{
		yield from $this->a;
		yield from $this->b;
	}
}

return ['413519 6,9,12,15,18,21,24', function () {
	$sum = 0;
	foreach (new Pair(new Range(0, 40), new Range(7, 30)) as $k => $v)
		$sum += $k * $v;
	$odd = new \CallbackFilterIterator(new Range(1, 60), fn ($v, $k) => $k & 1);
	foreach (new \LimitIterator($odd, 2, 20) as $k => $v)
		$sum = ($sum * 3 + $k + $v) % 1000003;
	$nested = new \RecursiveIteratorIterator(new \RecursiveArrayIterator([1, [2, [3, 4]], [[5], 6]]));
	foreach ($nested as $v)
		$sum += $v * $nested->getDepth();
	return $sum . ' ' . implode(',', iterator_to_array(new Range(2, 9)));
}];
