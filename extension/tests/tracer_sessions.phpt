--TEST--
Several traces can be open at the same time, started and stopped in any order, each with its own calls
--INI--
strobe.instrument=1
--FILE--
<?php
require __DIR__ . '/tracer.inc';

function work() { return abs($GLOBALS["i"] ?? -1); }	// opcache of 8.4 computes abs(-1) itself
function inner() { $GLOBALS['second'] = Strobe\Trace::start(Strobe\COUNTS, ['internals' => false]); work(); return strrev(__FILE__ . $GLOBALS['argc']); }
function outer() { work(); inner(); }

$first = Strobe\Trace::start(Strobe\WALL);
outer();
$third = Strobe\Trace::start(Strobe\WALL | Strobe\CPU | Strobe\MEMORY | Strobe\PEAK_MEMORY | Strobe\ALLOCATIONS);
work();
str_repeat('x', 1000);
$got = ['first' => paths($first->stop(), 'calls')];
work();
$got['second'] = paths($second->stop(), 'calls');
work();
$profile = $third->stop();
$got['third'] = array_filter(paths($profile, 'calls'), fn($path) => !preg_match('~paths|Profile~', $path), ARRAY_FILTER_USE_KEY);

$start = 'Strobe\Trace::start';
check_calls('the first', $got['first'], ['outer' => 1, 'outer;work' => 1, 'outer;work;abs' => 1, 'outer;inner' => 1,
	"outer;inner;$start" => 1, 'outer;inner;work' => 1, 'outer;inner;work;abs' => 1, 'outer;inner;strrev' => 1,
	$start => 1, 'work' => 1, 'work;abs' => 1, 'str_repeat' => 1]);
check_calls('the second, without internal functions', array_diff_key($got['second'], ['paths' => 1]), ['work' => 3]);
foreach (['work' => 3, 'work;abs' => 3, 'str_repeat' => 1] as $path => $calls)
	check(($got['third'][$path] ?? 0) === $calls, "the third: $path: " . json_encode($got['third']));
check($profile->getTotals()['allocated_bytes'] >= 1000, 'the third counts allocations: ' . json_encode($profile->getTotals()));
check(array_keys($got['second']) === array_keys(array_filter($got['second'])), 'no path of nothing');

/* Once none is open any more, a new one begins with nothing. */
check_calls('a new one', calls_of('work', Strobe\WALL), ['work' => 1, 'work;abs' => 1]);

/* Dropped without a stop. */
$dropped = Strobe\Trace::start();
work();
unset($dropped);
check_calls('after a dropped one', calls_of('work'), ['work' => 1, 'work;abs' => 1]);

/* Many of them. */
$open = [];
for ($i = 0; $i < 100; $i++)
	$open[] = Strobe\Trace::start(Strobe\COUNTS, ['internals' => false]);
work();
shuffle($open);
foreach ($open as $trace)
	check((paths($trace->stop(), 'calls')['work'] ?? 0) === 1, 'each of a hundred saw it');
echo "done\n";
?>
--EXPECT--
done
