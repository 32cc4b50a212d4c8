--TEST--
Strobe\Trace: measured values, options, concurrent traces, misuse
--INI--
strobe.instrument=1
memory_limit=256M
--FILE--
<?php
require __DIR__ . '/strobe.inc';

use Strobe\{Trace, Profile};
use const Strobe\{WALL, CPU, MEMORY, PEAK_MEMORY, ALLOCATIONS, SAMPLED_WALL, COUNTS};

function leaf($n) { return str_repeat('x', $n); }
function middle($n) { return leaf($n) . leaf($n); }
function wait() { usleep(20000); }

/* The calls in the folded text, without the one that stops the trace. */
function calls(Profile $p): array
{
	$calls = [];
	foreach (explode("\n", trim($p->toFolded('calls'))) as $line) {
		[$stack, $n] = [substr($line, 0, strrpos($line, ' ')), (int)substr($line, strrpos($line, ' ') + 1)];
		if (!str_ends_with($stack, 'Strobe\Trace::stop'))
			$calls[$stack] = $n;
	}
	return $calls;
}

middle(1);	// called before it starts, and seen all the same
$t = Trace::start();
check($t instanceof Trace && $t->isRunning() === true, 'it runs');
$t = null;
$t = Trace::start();
for ($i = 0; $i < 3; $i++)
	middle(10);
wait();
$p = $t->stop();
check($p instanceof Profile && !$t->isRunning(), 'it has stopped');
check(calls($p) === ['main()' => 1, 'main();middle' => 3, 'main();middle;leaf' => 6, 'main();middle;leaf;str_repeat' => 6, 'main();wait' => 1, 'main();wait;usleep' => 1],
	json_encode(calls($p)));
check(count($p) === 6 && $p->count() === 6, 'call paths: ' . count($p));
check($p->getMetrics() === ['calls' => 'count', 'wall_ns' => 'nanoseconds', 'cpu_ns' => 'nanoseconds', 'memory_bytes' => 'bytes', 'peak_memory_bytes' => 'bytes', 'off_cpu_ns' => 'nanoseconds'], 'metrics');
$totals = $p->getTotals();
check(array_keys($totals) === array_keys($p->getMetrics()) && $totals['calls'] === 19, json_encode($totals));
check($totals['wall_ns'] >= 20e6 && $totals['wall_ns'] < 1e9 && $totals['off_cpu_ns'] > 15e6 && $totals['cpu_ns'] < $totals['wall_ns'] - 15e6, json_encode($totals));
check(abs($p->getDuration() - $totals['wall_ns'] / 1e9) < 0.05 && abs($p->getStartTime() - microtime(true)) < 5, 'times');
check($p->getFoldedCalls() === 0, 'nothing was folded');

// Each mode.
$keep = [];
function hold(&$keep) { $keep[] = str_repeat('x', 1 << 20); }
foreach ([[COUNTS, ['calls']], [WALL, ['calls', 'wall_ns']], [CPU, ['calls', 'wall_ns', 'cpu_ns', 'off_cpu_ns']], [MEMORY, ['calls', 'memory_bytes']],
	[PEAK_MEMORY, ['calls', 'peak_memory_bytes']], [ALLOCATIONS, ['calls', 'allocations', 'frees', 'allocated_bytes']], [SAMPLED_WALL, ['calls', 'wall_ns']],
	[WALL | CPU | MEMORY | PEAK_MEMORY | ALLOCATIONS | SAMPLED_WALL, ['calls', 'wall_ns', 'cpu_ns', 'memory_bytes', 'peak_memory_bytes', 'allocations', 'frees', 'allocated_bytes', 'off_cpu_ns']]] as [$metrics, $names]) {
	$t = Trace::start($metrics);
	hold($keep);
	$p = $t->stop();
	check(array_keys($p->getTotals()) === $names, "$metrics measures " . implode(' ', array_keys($p->getTotals())));
	$hold = array_column($p->getFunctions(), null, 'name')['hold'];
	// Without the Zend allocator (ASan, valgrind) PHP does not know how much memory it has.
	$known = getenv('USE_ZEND_ALLOC') !== '0';
	if ($known && isset($hold['inclusive']['memory_bytes']))
		check($hold['inclusive']['memory_bytes'] >= 1 << 20 && $hold['inclusive']['memory_bytes'] < 3 << 20, "memory: " . json_encode($hold));
	if ($known && isset($hold['inclusive']['peak_memory_bytes']))
		check($hold['inclusive']['peak_memory_bytes'] > 800000, "peak: " . json_encode($hold));
	if (isset($hold['inclusive']['allocations']))
		check($hold['inclusive']['allocations'] >= 1 && $hold['inclusive']['allocated_bytes'] >= 1 << 20, "allocations: " . json_encode($hold));
}
$t = Trace::start(SAMPLED_WALL);
for ($end = microtime(true) + 0.1; microtime(true) < $end; )
	middle(100);
$p = $t->stop();
$ns = $p->getTotals()['wall_ns'];
$took = $p->getDuration() * 1e9;
check($ns > 0.5 * $took && $ns < $took + 20e6, "sampled time of $took ns: $ns");

/* The sampled part of the time of what is started with `$metrics` and lasts 50 ms or more, while `$before` runs already. */
function sampled_beside(?int $before, int $metrics): float
{
	$other = $before === null ? null : Trace::start($before);
	$t = Trace::start($metrics);
	for ($end = microtime(true) + 0.05; microtime(true) < $end; )
		middle(100);
	$p = $t->stop();
	return $p->getTotals()['wall_ns'] / 1e9 / $p->getDuration();
}
foreach ([[null, SAMPLED_WALL | MEMORY], [null, SAMPLED_WALL | PEAK_MEMORY], [null, SAMPLED_WALL | ALLOCATIONS], [null, SAMPLED_WALL | CPU], [COUNTS, SAMPLED_WALL],
	[MEMORY, SAMPLED_WALL], [WALL, SAMPLED_WALL], [SAMPLED_WALL, SAMPLED_WALL], [SAMPLED_WALL, MEMORY | SAMPLED_WALL], [SAMPLED_WALL, WALL]] as [$before, $metrics]) {
	$part = sampled_beside($before, $metrics);
	check($part > 0.7 && $part < 1.3, json_encode([$before, $metrics]) . ": $part");
}

// Options.
$include = tempnam(sys_get_temp_dir(), 'strobe');
file_put_contents($include, '<?php leaf(1);');
$all = ["main();$include", "main();$include;leaf", "main();$include;leaf;str_repeat"];
foreach ([[[], $all], [['files' => true, 'internals' => true, 'loads' => false], $all], [['internals' => false], array_slice($all, 0, 2)],
	[['files' => false], ['main();leaf', 'main();leaf;str_repeat']], [['loads' => true], ["main();compile $include", ...$all]]] as [$options, $expected]) {
	$t = Trace::start(COUNTS, $options);
	require $include;
	$paths = array_slice(array_keys(calls($t->stop())), 1);
	sort($paths);
	sort($expected);
	check($paths === $expected, json_encode([$options, $paths]));
}
unlink($include);

// Several at once, in any order.
$a = Trace::start(COUNTS);
leaf(1);
$b = Trace::start(COUNTS);
leaf(2);
$c = calls($a->stop());
leaf(3);
$d = calls($b->stop());
check($c['main();leaf'] === 2 && $d['main();leaf'] === 2, json_encode([$c, $d]));
$inner = null;
function within() { $t = Strobe\Trace::start(COUNTS); middle(1); return $t; }
$outer = Trace::start(COUNTS);
$inner = calls(within()->stop());
check(calls($outer->stop())['main();within;middle;leaf'] === 2 && $inner['main();middle;leaf'] === 2, 'one that is left by the function that started it: ' . json_encode($inner));

// A thousand that are dropped, some while others run.
for ($i = 0; $i < 1000; $i++) {
	$list[$i % 7] = Trace::start(COUNTS);
	leaf(1);
}
unset($list);
gc_collect_cycles();

/* Returns the exception that a call throws, as text. */
function thrown(callable $f): string
{
	try {
		$f();
	} catch (Throwable $e) {
		return get_class($e) . ': ' . $e->getMessage();
	}
	return 'nothing';
}
$t = Trace::start(WALL);
$p = $t->stop();
$done = Trace::start();
$done->stop();
foreach ([fn() => $done->stop(), fn() => new Trace, fn() => clone $done, fn() => serialize($done), fn() => unserialize('O:12:"Strobe\Trace":0:{}'), fn() => $done->x = 1,
	fn() => Trace::start(64), fn() => Trace::start(-1), fn() => Trace::start('x'), fn() => Trace::start(0, ['file' => true]), fn() => Trace::start(0, ['files' => 1]),
	fn() => Trace::start(0, [true]), fn() => Trace::start(0, ['loads' => null]), fn() => (new ReflectionClass(Trace::class))->newInstanceWithoutConstructor(),
	fn() => (new ReflectionClass(Profile::class))->newInstanceWithoutConstructor(), fn() => new Profile, fn() => clone $p, fn() => serialize($p),
	fn() => $p->toFolded('samples'), fn() => $p->toSpeedscope('x')] as $misuse)
	echo thrown($misuse), "\n";

// An argument too many changes nothing.
$t = Trace::start(COUNTS);
$wrong = thrown(fn() => $t->stop(1));
check(str_starts_with($wrong, 'ArgumentCountError') && $t->isRunning() && calls($t->stop())['main();thrown'] === 1, "it runs on after: $wrong");

// Traces that run at the end are dropped, and objects that outlive it are safe.
class Holder { static $trace, $profile; }
Holder::$trace = Trace::start();
Holder::$profile = $p;
$GLOBALS['kept'] = Trace::start();
function at_the_end() { $t = Trace::start(); leaf(1); echo calls($t->stop())['main();leaf'], " at the end\n"; }
register_shutdown_function('at_the_end');
echo "done\n";
?>
--EXPECT--
Strobe\Exception: The trace is not running: it was stopped already
Error: Call to private Strobe\Trace::__construct() from global scope
Error: Trying to clone an uncloneable object of class Strobe\Trace
Exception: Serialization of 'Strobe\Trace' is not allowed
Exception: Unserialization of 'Strobe\Trace' is not allowed
Error: Cannot create dynamic property Strobe\Trace::$x
ValueError: Strobe\Trace::start(): Argument #1 ($metrics) must be a sum of Strobe\WALL, CPU, MEMORY, PEAK_MEMORY, ALLOCATIONS and SAMPLED_WALL
ValueError: Strobe\Trace::start(): Argument #1 ($metrics) must be a sum of Strobe\WALL, CPU, MEMORY, PEAK_MEMORY, ALLOCATIONS and SAMPLED_WALL
TypeError: Strobe\Trace::start(): Argument #1 ($metrics) must be of type int, string given
ValueError: Strobe\Trace::start(): Argument #2 ($options) must have no other keys than "internals", "files", "loads", "flame_chart", "include" and "exclude"
TypeError: Strobe\Trace::start(): Argument #2 ($options) must have a bool as "files", int given
ValueError: Strobe\Trace::start(): Argument #2 ($options) must have strings as keys
TypeError: Strobe\Trace::start(): Argument #2 ($options) must have a bool as "loads", null given
ReflectionException: Class Strobe\Trace is an internal class marked as final that cannot be instantiated without invoking its constructor
ReflectionException: Class Strobe\Profile is an internal class marked as final that cannot be instantiated without invoking its constructor
Error: Call to private Strobe\Profile::__construct() from global scope
Error: Trying to clone an uncloneable object of class Strobe\Profile
Exception: Serialization of 'Strobe\Profile' is not allowed
ValueError: Strobe\Profile::toFolded(): Argument #1 ($metric) must be a metric of this profile: "calls", "wall_ns"
ValueError: Strobe\Profile::toSpeedscope(): Argument #1 ($metric) must be a metric of this profile: "calls", "wall_ns"
done
1 at the end
