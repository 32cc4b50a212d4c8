<?php
// One call site, two and three classes behind an interface.
namespace Corpus\CallPolymorphic;

use function array_slice;

interface Shape
{
	public function area(): float;
}

class Square implements Shape
{
	public function __construct(private float $side) {}
	public function area(): float { return $this->side * $this->side; }
}

class Rectangle implements Shape
{
	public function __construct(private float $a, private float $b) {}
	public function area(): float { return $this->a * $this->b; }
}

abstract class Polygon implements Shape
{
	public function area(): float { return $this->corners() * 0.5; }
	abstract protected function corners(): int;
}

class Triangle extends Polygon
{
	protected function corners(): int { return 3; }
}

function total(array $shapes): float
{
	$sum = 0.0;
	foreach ($shapes as $i => $shape)
		$sum += $shape->area() * ($i + 1);
	return $sum;
}

return [1326139.5, function () {
	$shapes = [];
	for ($i = 0; $i < 90; $i++)
		$shapes[] = match ($i % 3) {
			0 => new Square($i / 2),
			1 => new Rectangle($i, 0.25),
			2 => new Triangle,
		};
	return total($shapes) + total(array_slice($shapes, 5, 20));
}];
