--TEST--
A sample belongs to what ran at the tick, also if that was a function shorter than a microsecond, and to closures that have been freed since
--EXTENSIONS--
sockets
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
for ($end = microtime(true) + 0.8; microtime(true) < $end;) caller(1000);
for ($end = microtime(true) + 0.6, $x = 1; microtime(true) < $end;) $x = freed($x);
');
check($run->status === 0 && $run->stdout . $run->stderr === '', "the program runs: $run->stdout$run->stderr");

$all = $run->with('caller');
check($all > 100 && abs($run->with('short', true) / $all - 60 / 300) < 0.07, "short: {$run->with('short', true)} of $all");
check($run->with('tiny', true) < 0.05 * $all, "tiny: {$run->with('tiny', true)} of $all");

$all = $run->with('freed');
check($all > 100 && abs($run->with('Leaf::own', true) / $all - 400 / 1000) < 0.1, "Leaf::own: {$run->with('Leaf::own', true)} of $all: " . json_encode($run->stacks()));
$closure = array_filter(array_keys($run->frames()), fn($f) => str_starts_with($f, '{closure:') && $run->with($f, true) > $all / 2);
check(count($closure) === 1, 'closures: ' . json_encode($run->stacks()));
check($run->with('freed', true) < 0.06 * $all, "freed: {$run->with('freed', true)} of $all");
echo "done\n";
?>
--EXPECT--
done
