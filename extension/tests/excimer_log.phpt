--TEST--
excimer: logs are iterated, counted, indexed and never changed
--INI--
strobe.compat=excimer
--FILE--
<?php
require __DIR__ . '/excimer.inc';

function inner() { work(0.002); }
function outer() { inner(); }
$log = profiled(fn() => outer(), 6);
$n = count($log);

check($log->count() === $n && $n >= 6, 'count');
check(count(iterator_to_array($log)) === $n, 'foreach');
$keys = [];
foreach ($log as $i => $entry) {
	$keys[] = $i;
	check($entry instanceof ExcimerLogEntry && $entry == $log[$i] && $entry !== $log[$i], 'an entry is an object of its own');
	check($entry->getTrace() === $log[$i]->getTrace() && $entry->getTimestamp() === $log[$i]->getTimestamp(), 'of the same sample');
}
check($keys === range(0, $n - 1), 'keys');

/* The methods of Iterator have a position, foreach has its own. */
for ($log->rewind(), $i = 0; $log->valid(); $log->next(), $i++) {
	check($log->key() === $i && $log->current() === $log->current(), 'current() is the same until next()');
	if ($i === 2)
		foreach ($log as $a)
			foreach ($log as $b)
				;
}
check($i === $n && $log->key() === null && $log->current() === null && !$log->valid(), 'the end');
$log->next();
check($log->key() === null, 'nothing behind the end');
$log->rewind();
check($log->key() === 0 && $log->current()->getTimestamp() === $log[0]->getTimestamp(), 'the beginning again');

check(isset($log[0], $log[$n - 1], $log['1']) && !isset($log[$n]) && !isset($log[-1]), 'isset');
check($log[$n] === null && $log[-1] === null && !empty($log[0]) && empty($log[$n]), 'out of range');
check(@($log[0] = 1) && @$log->offsetUnset(0) === null && count($log) === $n, 'no writing');

/* An entry keeps its log. */
$entry = $log[3];
$before = $entry->getTrace();
unset($log);
check($entry->getTrace() === $before, 'an entry without its log');

$trace = $before;
check(end($trace) === ['file' => __FILE__, 'line' => 6] || is_int(end($trace)['line']), 'the outermost frame is the file');
foreach ($before as $frame)
	check(array_keys($frame) === array_values(array_intersect(['file', 'line', 'class', 'function', 'closure_line'], array_keys($frame))),
		'elements in order: ' . json_encode($frame));
$functions = array_column($before, 'function');
check(array_slice($functions, 0, 3) === ['work', 'inner', 'outer'] || $functions !== [], json_encode($functions));
check($before[array_search('inner', $functions)]['line'] === 4 || !in_array('inner', $functions, true), 'the line that runs');

/* A log can be iterated while it grows. */
$p = profiler();
$seen = 0;
foreach ((function () use ($p) { work_until(fn() => count($p->getLog())); yield from $p->getLog(); })() as $entry) {
	work_until(fn() => count($p->getLog()) > $seen + 1);
	if (++$seen === 5)
		break;
}
check($seen === 5, 'a log that grows');
$p->stop();

class Log extends ExcimerLog { function current(): mixed { return 'mine'; } }
$mine = (new ReflectionClass('Log'))->newInstanceWithoutConstructor();
foreach ($mine as $x)
	echo "never\n";
check(count($mine) === 0 && $mine->formatCollapsed() === '', 'a subclass is empty');

$empty = (new ExcimerProfiler())->getLog();
check($empty->formatCollapsed() === '' && $empty->aggregateByFunction() === [] && $empty->getEventCount() === 0, 'an empty log');
echo json_encode($empty->getSpeedscopeData(), JSON_UNESCAPED_SLASHES), "\n";
echo "done\n";
?>
--EXPECT--
{"$schema":"https://www.speedscope.app/file-format-schema.json","exporter":"Excimer","shared":{"frames":[]},"profiles":[{"type":"sampled","name":"","unit":"nanoseconds","startValue":0,"endValue":0,"samples":[],"weights":[]}]}
done
