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
/* On a busy machine the ticking thread is late, one sample counts for several periods, and shares of 600 periods are off by 0.05
   and more. A function that is not found has no share at all. */
profile_until(function (Run $run): array {
	$wrong = $run->stdout === '' ? [] : ["the program runs: $run->stdout"];
	$all = $run->with('caller');
	if ($all <= 100 || abs($run->with('short', true) / $all - 60 / 300) >= 0.1)
		$wrong[] = "short: {$run->with('short', true)} of $all";
	/* A processor takes some 100 ns to read what another one has just written, and tiny() comes every 2,000. */
	if ($run->with('tiny', true) >= 0.1 * $all)
		$wrong[] = "tiny: {$run->with('tiny', true)} of $all";

	$all = $run->with('freed');
	if ($all <= 100 || abs($run->with('Leaf::own', true) / $all - 400 / 1000) >= 0.15)
		$wrong[] = "Leaf::own: {$run->with('Leaf::own', true)} of $all: " . json_encode($run->stacks());
	$closure = array_filter(array_keys($run->frames()), fn($f) => str_starts_with($f, '{closure:') && $run->with($f, true) > 0.4 * $all);
	if (count($closure) !== 1)
		$wrong[] = 'closures: ' . json_encode($run->stacks());
	if ($run->with('freed', true) >= 0.1 * $all)
		$wrong[] = "freed: {$run->with('freed', true)} of $all";
	return $wrong;
}, '<?php
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
for ($end = cpu_ms() + 300; cpu_ms() < $end;) caller(1000);
for ($end = cpu_ms() + 400, $x = 1; cpu_ms() < $end;) for ($i = 0; $i < 20; $i++) $x = freed($x);
', ['strobe.clock' => 'cpu', 'strobe.period' => '0.0005']);
echo "done\n";
?>
--EXPECT--
done
