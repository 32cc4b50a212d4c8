<?php
// Static properties, constants and late static binding.
namespace Corpus\ObjectStatic;

use function array_combine, array_keys, array_map, json_encode, substr;

abstract class Model
{
	public const STEP = 1;
	protected static array $made = [];
	public static int $count = 0;

	public static function make(): static
	{
		static::$made[static::class] = (static::$made[static::class] ?? 0) + static::STEP;
		self::$count++;
		return new static;
	}

	public static function report(): string
	{
		return json_encode(array_combine(array_map(fn ($c) => substr($c, -1), array_keys(self::$made)), self::$made));
	}

	public static function reset(): void
	{
		self::$made = [];
		Model::$count = 0;
	}

	abstract public function twin(): static;
}

class A extends Model
{
	public function twin(): static
	{
		return self::make();
	}
}

class B extends A
{
	public const STEP = parent::STEP + 4;

	public function twin(): static
	{
		return parent::make();
	}
}

return ['{"B":300,"A":120}180', function () {
	Model::reset();
	for ($i = 0; $i < 90; $i++) {
		$class = $i % 3 ? A::class : B::class;
		$class::make()->twin();
	}
	return Model::report() . Model::$count;
}];
