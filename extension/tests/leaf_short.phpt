--TEST--
A sample belongs to the function running at the tick, even if it takes less than a microsecond or is a closure freed since
--EXTENSIONS--
sockets
--SKIPIF--
<?php
if (getenv('USE_ZEND_ALLOC') === '0')
	die('skip without the Zend allocator, frames are read by system calls, which take longer than these functions');
--FILE--
<?php
require __DIR__ . '/strobe.inc';

$long = fn(int $n): string => str_repeat('$x = ($x * 3 + 7) % 1000003; ', $n);
$run = profile('<?php
/* By the time that its frame has been looked at, the next function may have taken its place. */
function short($x) { ' . $long(60) . ' return $x; }
function tiny($x) { return $x; }
function caller($n) { for ($i = 0, $x = 1; $i < $n; $i++) { $x = short($x); $x = tiny($x); ' . $long(240) . ' } }

/* No safe point before they are gone. */
class Leaf { static function own($x) { ' . $long(200) . ' return $x; } }
function freed($x) {
	$x = (function ($x) { ' . $long(600) . ' return $x; })($x);
	$x = array_map(function ($x) { return (static fn($x) => Leaf::own($x))($x); }, [$x])[0];
	return (Leaf::own(...))($x);
}
function cpu_ms() { $u = getrusage(); return $u["ru_utime.tv_sec"] * 1000 + $u["ru_utime.tv_usec"] / 1000; }
for ($end = cpu_ms() + 1000; cpu_ms() < $end;) caller(1000);
for ($end = cpu_ms() + 1200, $x = 1; cpu_ms() < $end;) for ($i = 0; $i < 20; $i++) $x = freed($x);
', ['strobe.clock' => 'cpu']);
check($run->status === 0 && $run->stdout . $run->stderr === '', "the program runs: $run->stdout$run->stderr");

/* On a busy machine the ticking thread is late, one sample counts for several periods, and shares of 1,000 periods are off by 0.05
   and more. A function that is not found has no share at all. */
$all = $run->with('caller');
check($all > 100 && abs($run->with('short', true) / $all - 60 / 300) < 0.1, "short: {$run->with('short', true)} of $all");
/* A processor takes some 100 ns to read what another one has just written, and tiny() comes every 2,000. */
check($run->with('tiny', true) < 0.1 * $all, "tiny: {$run->with('tiny', true)} of $all");

$all = $run->with('freed');
check($all > 100 && abs($run->with('Leaf::own', true) / $all - 400 / 1000) < 0.15, "Leaf::own: {$run->with('Leaf::own', true)} of $all: " . json_encode($run->stacks()));
$closure = array_filter(array_keys($run->frames()), fn($f) => str_starts_with($f, '{closure:') && $run->with($f, true) > 0.4 * $all);
check(count($closure) === 1, 'closures: ' . json_encode($run->stacks()));
check($run->with('freed', true) < 0.1 * $all, "freed: {$run->with('freed', true)} of $all");
echo "done\n";
?>
--EXPECT--
done
