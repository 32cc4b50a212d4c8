--TEST--
xhprof arrays are exact for more paths than the node limit of a tree; deeper calls are folded and reported in the error log
--INI--
strobe.compat=xhprof,tideways_xhprof,uprofiler
--FILE--
<?php
require __DIR__ . '/strobe.inc';
require __DIR__ . '/edges.inc';

for ($i = 0; $i < 6; $i++)
	eval("function f$i(\$depth, \$k) { if (\$depth) { \$next = 'f' . \$k % 6; \$next(\$depth - 1, intdiv(\$k, 6)); } return fn() => \$k; }");
function paths() { for ($k = 0; $k < 6 ** 4; $k++) f0(5, $k)(); }
function deep($n) { return $n ? deep($n - 1) + 1 : 0; }
function recorded(string $api, callable $f, int $nodes, ...$options): array
{
	ini_set('strobe.trace_max_nodes', (string)$nodes);
	"{$api}_enable"(...$options);
	$f();
	return "{$api}_disable"();
}

$log = sys_get_temp_dir() . '/strobe-full-' . getmypid();
ini_set('error_log', $log);
ini_set('log_errors', '1');
foreach (['xhprof', 'tideways_xhprof', 'uprofiler'] as $api) {
	$whole = recorded($api, 'paths', 1000000);
	$parts = recorded($api, 'paths', 1024);
	check_edges($parts);
	check(calls($parts) === calls($whole), "$api: " . json_encode(array_diff_assoc(calls($parts), calls($whole))));
	check(array_sum(calls($parts)) === 6 ** 4 * 12 + 3, "$api: " . array_sum(calls($parts)));
	check($parts['main()']['ct'] === 1 && $parts['main()']['wt'] >= $parts['main()==>paths']['wt'], "$api: main()");
	$self = $parts['main()==>paths']['wt'] - $parts['paths==>f0']['wt'];
	check($self >= 0, "$api: paths took $self µs itself");
}
$ignoring = [0, ['ignored_functions' => ['f1', 'f3']]];
check(calls(recorded('xhprof', 'paths', 1000000, ...$ignoring)) === calls(recorded('xhprof', 'paths', 1024, ...$ignoring)), 'with ignored functions');
$memory = recorded('xhprof', 'paths', 1024, XHPROF_FLAGS_MEMORY | XHPROF_FLAGS_CPU);
check($memory['main()']['mu'] < 200000 && $memory['main()']['cpu'] <= $memory['main()']['wt'] + 1000, 'what adds them up takes no memory of PHP: ' . json_encode($memory['main()']));
check(!file_exists($log), 'nothing was folded: ' . @file_get_contents($log));

/* Fibers that are suspended meanwhile. */
function in_fibers()
{
	$fibers = [];
	for ($i = 0; $i < 20; $i++) {
		$fibers[] = $fiber = new Fiber(function () { f1(1, 0); Fiber::suspend(); f2(1, 1); });
		$fiber->start();
	}
	paths();
	foreach ($fibers as $fiber)
		$fiber->resume();
}
check(calls(recorded('xhprof', 'in_fibers', 1000000)) === calls($parts = recorded('xhprof', 'in_fibers', 1024)), 'fibers');

/* A trace of one's own beside it keeps its paths, so that both are folded. */
$trace = Strobe\Trace::start(Strobe\COUNTS);
$both = recorded('xhprof', 'paths', 1024);
$calls = $trace->stop()->getTotals()['calls'];
check(array_sum(calls($both)) === 6 ** 4 * 12 + 3 && preg_grep('/==>\[folded\]$/', array_keys($both)) !== [], 'no call is lost beside a trace: ' . array_sum(calls($both)));
check($calls === 1 + 2 + array_sum(calls($both)) - 1 + 2, "nor in the trace: $calls");
$lines = file($log);
check(count($lines) === 1 && preg_match('/strobe: \d+ calls exceeded the trace\'s limit and were merged into \[folded\]: strobe.trace_max_nodes is 1024$/', $lines[0]), 'the log: ' . json_encode($lines));

/* Deeper than the tree. */
$deep = recorded('tideways_xhprof', fn() => deep(5000), 1024);
check(array_sum(calls($deep)) === 5001 + 3, 'calls of a deep recursion: ' . array_sum(calls($deep)));
check(count(file($log)) === 1, 'the log is told once');
unlink($log);
echo "done\n";
?>
--EXPECT--
done
