<?php
// Traits: shared code, aliases, static properties per class, abstract methods.
namespace Corpus\ObjectTraits;

use function md5;

trait Counts
{
	public static int $made = 0;
	private int $n = 0;

	abstract protected function weight(): int;

	public function count(int $by = 1): int
	{
		self::$made++;
		for ($i = 0; $i < $by; $i++)
			$this->n += $this->weight();
		return $this->n;
	}
}

trait Speaks
{
	public function say(): string { return static::class[-1] . $this->weight(); }
	public function count(): int { return -1; }
}

class A
{
	use Counts;
	protected function weight(): int { return 3; }
}

class B
{
	use Counts, Speaks {
		Counts::count insteadof Speaks;
		Speaks::count as protected silent;
		say as public talk;
	}
	protected function weight(): int { return 5 + $this->silent(); }
}

class C extends B
{
	protected function weight(): int { return 7; }
}

return ['13660 60 120 d56e94399cf49e85c9bd8fb3860e627e', function () {
	A::$made = B::$made = 0;
	[$a, $b, $c] = [new A, new B, new C];
	$sum = 0;
	$text = '';
	for ($i = 0; $i < 60; $i++) {
		$sum += $a->count($i % 4) - $b->count($i % 3) + $c->count();
		$text .= $c->talk() . $b->say();
	}
	return "$sum " . A::$made . ' ' . B::$made . ' ' . md5($text);
}];
