<?php
// One call site and many classes, so that the compiler cannot know whom it calls: functions of PHP's own among them.
namespace Corpus\CallMegamorphic;

use function array_sum, count, ord, strlen, strtoupper, ucfirst;

interface Step { public function f(string $n): int; }
final class A implements Step { private array $s = []; public function f(string $n): int { $this->s[$n] = ($this->s[$n] ?? 0) + 1; return count($this->s); } }
final class B implements Step { private array $s = []; public function f(string $n): int { $this->s[$n] = ($this->s[$n] ?? 0) + 2; return count($this->s); } }
final class C implements Step { private int $s = 0; public function f(string $n): int { return ++$this->s; } }
final class D implements Step { public string $s = ''; public function f(string $n): int { $this->s = $n . strlen($this->s); return strlen($this->s); } }
final class E implements Step { private float $s = 0; public function f(string $n): int { $this->s += 0.5; return (int)$this->s; } }
final class F implements Step { public function f(string $n): int { return ord($n[0]) + array_sum([1, 2, 3]); } }
final class G extends \ArrayObject implements Step { public function f(string $n): int { $this[$n] = 1; return count($this); } }

return [6544, function () {
	$steps = [new A, new B, new C, new D, new E, new F, new G];
	$sum = 0;
	for ($i = 0; $i < 210; $i++)
		$sum += $steps[$i % 7]->f('s' . ($i & 7));
	$callables = ['strlen', 'strrev', strtoupper(...), fn ($x) => $x . 'y', [$steps[5], 'f'], 'Corpus\CallMegamorphic\twice', ucfirst(...), 'md5'];
	for ($i = 0; $i < 160; $i++)
		$sum += strlen((string)$callables[$i % 8]("word$i"));
	return $sum;
}];

function twice(string $s): string { return $s . $s; }
