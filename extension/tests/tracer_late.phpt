--TEST--
A trace started late records functions that were called before, and each of its calls once, however often it is started
--INI--
strobe.instrument=1
--FILE--
<?php
require __DIR__ . '/tracer.inc';

function f($a) { return g($a) + 1; }
function g($a) { return abs($a); }
class C { static function s($x) { return $x; } function m($x) { return self::s($x); } }
function run(int $n, C $c): void { for ($i = 0; $i < $n; $i++) { f($i); $c->m($i); strrev('ab'); } }

$c = new C;
$before = fn($x) => $x + 1;
$bound = Closure::bind(function ($x) { return $x; }, $c, C::class);
$before(1);
$bound(1);
run(30000, $c);		/* hot: a JIT has compiled it by now */
for ($round = 0; $round < 40; $round++) {
	$n = 100 + $round;
	$now = function ($x) { return $x; };
	$now(1);
	$trace = Strobe\Trace::start([Strobe\COUNTS, Strobe\WALL, Strobe\WALL | Strobe\CPU, Strobe\WALL | Strobe\MEMORY][$round % 4]);
	run($n, $c);
	$now(2);
	$before(2);
	$bound(2);
	$got = paths($trace->stop(), 'calls');
	check_calls("round $round", $got, ['run' => 1, 'run;f' => $n, 'run;f;g' => $n, 'run;f;g;abs' => $n, 'run;C::m' => $n,
		'run;C::m;C::s' => $n, 'run;strrev' => $n, '{closure}' => 3]);
	run(50, $c);
}

/* Started and stopped in the middle of a function that runs on. */
function inside(int $n): array
{
	for ($i = 0; $i < $n; $i++) {
		if ($i === 500)
			$trace = Strobe\Trace::start(Strobe\WALL);
		if ($i === 700)
			$got = paths($trace->stop(), 'calls');
		g($i);
		(function () use ($i) { return $i; })();
	}
	return $got;
}
function outside(): array { return inside(1000); }
check_calls('in the middle', outside(), ['g' => 200, 'g;abs' => 200, '{closure}' => 200]);

/* The function that started it returns: what follows is below the root again. */
function starts(): Strobe\Trace { $trace = Strobe\Trace::start(Strobe\COUNTS); g(1); return $trace; }
function nested(): Strobe\Trace { return starts(); }
$trace = nested();
f(1);
check_calls('after the return', paths($trace->stop(), 'calls'), ['g' => 1, 'g;abs' => 1, 'f' => 1, 'f;g' => 1, 'f;g;abs' => 1]);
echo "done\n";
?>
--EXPECT--
done
