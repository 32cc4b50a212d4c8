--TEST--
excimer: stacks above the depth limit visibly lose their callers; without a limit no stack is truncated
--INI--
strobe.compat=excimer
memory_limit=1G
excimer.default_max_depth=7
--FILE--
<?php
require __DIR__ . '/excimer.inc';

function stack_at(int $depth, ?int $limit): string
{
	$p = profiler();
	if ($limit !== null)
		$p->setMaxDepth($limit);
	down($depth, $p);
	$log = $p->flush();
	$longest = '';
	foreach ($log as $entry) {
		$trace = array_map(fn($f) => basename($f['function'] ?? $f['file']), $entry->getTrace());
		if ($trace[0] === 'bottom')
			return implode(' ', $trace);
	}
	return 'never';
}
function down(int $depth, ExcimerProfiler $p): void
{
	if ($depth > 0)
		down($depth - 1, $p);
	else
		bottom($p);
}
function bottom(ExcimerProfiler $p): void
{
	$end = microtime(true) + 30;
	for ($p->start(); count($p->getLog()) < 3 && microtime(true) < $end;)
		for ($i = 0; $i < 5000; $i++);	/* its callee is a leaf, too, but seldom */
	$p->stop();
}

foreach ([1, 2, 5, 6, 7, 0, -1] as $limit)
	echo $limit, ': ', stack_at(2, $limit), "\n";
echo 'setting: ', stack_at(9, null), "\n";

/* Frames of internal functions are not shown but count. */
$p = profiler();
$p->setMaxDepth(2);
$cut = [];
function spin(): void
{
	for ($i = 0; $i < 100000; $i++);
}
$log = profiled(function () { array_map(function () { spin(); }, [1]); }, 5, $p);
foreach ($log as $entry)
	if (($entry->getTrace()[0]['function'] ?? '') === 'spin') {
		$cut = array_map(fn($f) => preg_replace('/^\{closure.*/', 'closure', $f['function']), $entry->getTrace());
		break;
	}
check($cut === ['spin', 'closure', 'excimer_truncated'], json_encode($cut));
$last = array_slice($entry->getTrace(), -1)[0];
check($last === ['file' => 'excimer fake file', 'line' => 1, 'function' => 'excimer_truncated'], json_encode($last));

/* Functions that were running at the moment and have returned since are part of the stack, and of its depth. */
eval('function straight(string $a): void { ' . str_repeat('$a = $a . "x"; ', 3000) . '}');
function to_straight(int $depth): void
{
	if ($depth > 0)
		to_straight($depth - 1);
	else
		straight('y');
}
foreach ([1, 2, 8] as $limit) {
	$p = profiler();
	$p->setMaxDepth($limit);
	foreach (profiled(fn() => to_straight(12), 10, $p) as $entry) {
		$trace = array_column($entry->getTrace(), 'function');
		check(count(array_diff($trace, ['excimer_truncated'])) <= $limit + 1, "$limit: " . json_encode($trace));
	}
}

/* The number that matters is that of the moment: the limit may change in between. */
$p = new ExcimerProfiler();
$p->setMaxDepth(0);
$p->setPeriod(0.001);
down(100000, $p);
$log = $p->flush();
check(count($log) >= 3, 'a deep stack is sampled');
check(substr_count($log->formatCollapsed(), 'down;down') >= 50000, 'whole');
check(count($log[0]->getTrace()) >= 100003, 'its trace: ' . count($log[0]->getTrace()));
$by = $log->aggregateByFunction();
check($by['down']['inclusive'] === $log->getEventCount() && $by['down']['self'] === 0, 'recursion counts once');
check(count($log->getSpeedscopeData()['profiles'][0]['samples'][0]) >= 100003, 'for speedscope');
echo "done\n";
?>
--EXPECT--
1: bottom down excimer_truncated
2: bottom down down excimer_truncated
5: bottom down down down stack_at excimer_depth.php
6: bottom down down down stack_at excimer_depth.php
7: bottom down down down stack_at excimer_depth.php
0: bottom down down down stack_at excimer_depth.php
-1: bottom excimer_truncated
setting: bottom down down down down down down down excimer_truncated
done
