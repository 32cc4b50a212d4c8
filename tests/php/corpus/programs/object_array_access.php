<?php
// Objects that are written like arrays: ArrayAccess, Countable and ArrayObject.
namespace Corpus\ObjectArrayAccess;

use function strlen;

class Vector implements \ArrayAccess, \Countable
{
	private array $items = [];

	public function offsetExists(mixed $offset): bool { return isset($this->items[$offset]); }
	public function offsetGet(mixed $offset): mixed { return $this->items[$offset] ?? 0; }

	public function offsetSet(mixed $offset, mixed $value): void
	{
		if ($offset === null)
			$this->items[] = $value;
		else
			$this->items[$offset] = $value;
	}

	public function offsetUnset(mixed $offset): void { unset($this->items[$offset]); }
	public function count(): int { return count($this->items); }
}

return ['19712 86 413e', function () {
	$v = new Vector;
	$o = new \ArrayObject;
	for ($i = 0; $i < 100; $i++) {
		$v[] = $i;
		$v[$i % 13] += $i;
		if (isset($v[$i - 5]) && $i % 6 === 0)
			unset($v[$i - 5]);
		$v[$i] ??= 4;
		$o["k$i"] = count($v) + $v[$i >> 1];
	}
	$sum = 0;
	foreach ($o as $k => $x)
		$sum += $x * strlen($k);
	return $sum . ' ' . count($v) . ' ' . $v[7] . (empty($v[500]) ? 'e' : 'f');
}];
