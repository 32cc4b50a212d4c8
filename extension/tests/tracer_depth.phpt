--TEST--
Recursion to any depth is traced; what finds no room in the node budget is folded, and says so
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
/* Of deep, of abs, and of the stop itself: what is called by them is theirs. */
check($functions['[folded]']['calls'] === 3, 'calls that were the first to find no room: ' . $functions['[folded]']['calls']);
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
check($folded['[folded]'] + count($folded) >= 5000, $folded['[folded]'] . ' calls are folded');
echo "done\n";
?>
--EXPECT--
done
