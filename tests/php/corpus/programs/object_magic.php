<?php
// __get, __set, __isset, __unset, __call, __callStatic, __invoke and __toString.
namespace Corpus\ObjectMagic;

use function array_map, array_sum, count, implode, md5, strlen;

class Bag
{
	private array $data = [];
	private int $calls = 0;

	public function __get(string $name): mixed
	{
		return $this->data[$name] ?? strlen($name);
	}

	public function __set(string $name, mixed $value): void
	{
		$this->data[$name] = $value;
	}

	public function __isset(string $name): bool
	{
		return isset($this->data[$name]);
	}

	public function __unset(string $name): void
	{
		unset($this->data[$name]);
	}

	public function __call(string $name, array $args): int
	{
		return ++$this->calls + array_sum($args) * strlen($name);
	}

	public static function __callStatic(string $name, array $args): string
	{
		return $name . count($args);
	}

	public function __invoke(int $x): int
	{
		return $x * 2 + $this->calls;
	}

	public function __toString(): string
	{
		return implode(',', $this->data) . "/$this->calls";
	}
}

return ['28125 191,198,205,219,226,173,179,185/120 690ad701217dac8cda08a70114e99c95', function () {
	$bag = new Bag;
	$sum = 0;
	$text = '';
	for ($i = 0; $i < 60; $i++) {
		$name = 'p' . $i % 9;
		$bag->$name = $bag->$name + $i;
		if (isset($bag->p3))
			$sum += $bag->missing;
		if ($i % 10 === 7)
			unset($bag->p3);
		$sum += $bag->add($i, 2) + $bag->other() + $bag($i) + array_sum(array_map($bag, [1, 2]));
		$text .= Bag::make($i, 1);
	}
	return $sum . ' ' . $bag . ' ' . md5($text);
}];
