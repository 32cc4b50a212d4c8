<?php
// clone, shallow and deep, with __clone.
namespace Corpus\ObjectClone;

use function array_sum, implode;

class Node
{
	public array $tags = [];

	public function __construct(public int $value, public ?Node $next = null) {}

	public function __clone()
	{
		if ($this->next)
			$this->next = clone $this->next;
		$this->tags[] = $this->value++;
	}

	public function sum(): int
	{
		return $this->value + array_sum($this->tags) * 3 + ($this->next?->sum() ?? 0);
	}
}

return ['99 152 152 152 237 237 237 386', function () {
	$list = null;
	for ($i = 0; $i < 8; $i++)
		$list = new Node($i, $list);
	$all = [];
	for ($i = 0; $i < 8; $i++) {
		$copy = clone $list;
		$copy->next->value *= 2;
		$all[] = $copy->sum() - $list->sum();
		if ($i % 3 === 0)
			$list = $copy;
	}
	return implode(' ', $all);
}];
