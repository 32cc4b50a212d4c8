--TEST--
Recursion of any depth is traced; calls above the node limit are folded and marked
--INI--
strobe.instrument=1
memory_limit=1G
--FILE--
<?php
require __DIR__ . '/tracer.inc';

function deep(int $n): int { return $n ? deep($n - 1) + 1 : 0; }
function even(int $n): int { return $n ? odd($n - 1) : 0; }
function odd(int $n): int { return $n ? even($n - 1) : 0; }

foreach ([Strobe\COUNTS, Strobe\WALL | Strobe\CPU | Strobe\MEMORY | Strobe\PEAK_MEMORY] as $metrics) {
	$trace = Strobe\Trace::start($metrics);
	deep(200000);
	even(20000);
	$profile = $trace->stop();
	$functions = array_column($profile->getFunctions(), 'calls', 'name');
	check($functions['deep'] === 200001, "deep: $functions[deep] calls");
	check($functions['even'] === 10001 && $functions['odd'] === 10000, "even: $functions[even], odd: $functions[odd]");
	check(!isset($functions['[folded]']), 'nothing is folded');
}
unset($profile);

ini_set('strobe.trace_max_nodes', '2000');
$trace = Strobe\Trace::start(Strobe\WALL);
deep(5000);
abs(1);
deep(100);
$profile = $trace->stop();
$functions = array_column($profile->getFunctions(), null, 'name');
$deep = $functions['deep']['calls'];
check($deep > 1900 && $deep < 2200, "$deep calls of deep have nodes");
check(isset($functions['[folded]']), 'there is a folded frame: ' . implode(' ', array_keys($functions)));
/* 5,001 and 101 of deep, one of abs, and the stop itself. */
check($functions['[folded]']['calls'] + $deep === 5001 + 101 + 2, "all calls are there: {$functions['[folded]']['calls']} and $deep");
check($profile->getFoldedCalls() === $functions['[folded]']['calls'], 'and those that are folded are counted: ' . $profile->getFoldedCalls());
check($profile->getTotals()['calls'] === 5001 + 101 + 2 + 1, 'totals have them and main(): ' . $profile->getTotals()['calls']);
check(array_sum(preg_replace('/.* /', '', explode("\n", trim($profile->toFolded('calls'))))) === 5105, 'and the folded text');
check(array_sum(array_column($profile->toXhprof(), 'ct')) === 5105, 'and the array of xhprof');
check($functions['[folded]']['exclusive']['wall_ns'] > 0, 'their time is known');
$self = array_sum(array_map(fn($f) => $f['exclusive']['wall_ns'], $functions));
check(abs($self - $profile->getTotals()['wall_ns']) < 1000, 'and the sums are still right');

/* Wide instead of deep. */
$code = '';
for ($i = 0; $i < 5000; $i++)
	$code .= "function f$i() {}\n";
eval($code);
$trace = Strobe\Trace::start(Strobe\COUNTS);
for ($i = 0; $i < 5000; $i++)
	"f$i"();
$folded = paths($trace->stop(), 'calls');
check(count($folded) > 1900 && count($folded) < 2010, count($folded) . ' paths');
check($folded['[folded]'] + count($folded) === 5000 + 1 + 1, $folded['[folded]'] . ' calls are folded, among them that of the stop');

/* A trace that begins when another has filled the tree sees main(), and all its calls folded. */
$outer = Strobe\Trace::start(Strobe\WALL);
deep(3000);
$inner = Strobe\Trace::start(Strobe\WALL);
deep(9);
$first = $inner->stop();
deep(9);
$second = (function () { $t = Strobe\Trace::start(Strobe\WALL); deep(9); return $t->stop(); })();
$profile = $outer->stop();
check($first->getTotals()['calls'] === 12 && $first->getFoldedCalls() === 11, json_encode($first->getTotals()));
check($second->getTotals()['calls'] === 12, 'also within a call that is folded: ' . json_encode($second->getTotals()));
/* main(), 3,001 of deep, start, 10, stop, 10, the closure with start, 10 and stop, and the last stop. */
check($profile->getTotals()['calls'] === 1 + 3001 + 12 + 10 + 13 + 1, 'and the outer one has all: ' . $profile->getTotals()['calls']);
check(!str_contains($profile->toFolded(), '[folded];[folded]'), 'each stack is folded once');

/* With time by samples. */
$trace = Strobe\Trace::start(Strobe\SAMPLED_WALL);
for ($end = hrtime(true) + 1e8; hrtime(true) < $end;)
	deep(3000);
$profile = $trace->stop();
$wall = array_column($profile->getFunctions(), null, 'name');
check($profile->getTotals()['wall_ns'] > 8e7 && array_sum(array_map(fn($f) => $f['exclusive']['wall_ns'], $wall)) === $profile->getTotals()['wall_ns'], 'time of what is folded: ' . json_encode($profile->getTotals()));
echo "done\n";
?>
--EXPECT--
done
