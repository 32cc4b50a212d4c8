--TEST--
excimer: logs are iterable, countable, indexable and immutable
--INI--
strobe.compat=excimer
--FILE--
<?php
require __DIR__ . '/excimer.inc';

function inner() { work(0.002); }
function outer() { inner(); }
$log = profiled(fn() => outer(), 6);
$n = count($log);
/* PHP's name of a closure contains its place since 8.4. */
define('CLOSURE', PHP_VERSION_ID < 80400 ? '{closure}' : '{closure:' . __FILE__ . ':6}');

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
$all = iterator_to_array($log);
$log->rewind();		/* forgets the current entry, which refers to the log in turn */
unset($log);
check($entry->getTrace() === $before, 'an entry without its log');

$traces = array_map(fn($e) => $e->getTrace(), array_filter($all, fn($e) => count($e->getTrace()) === 6));
check($traces !== [], 'samples of work()');
foreach ($traces as $trace) {
	$functions = array_map(fn($f) => $f['function'] ?? '-', $trace);
	check($functions === ['work', 'inner', 'outer', CLOSURE, 'profiled', '-'], 'innermost first: ' . json_encode($functions));
	check($trace[1] === ['file' => __FILE__, 'line' => 4, 'function' => 'inner'], 'the line that runs: ' . json_encode($trace[1]));
	check($trace[3] === ['file' => __FILE__, 'line' => 6, 'function' => CLOSURE, 'closure_line' => 6], json_encode($trace[3]));
	check($trace[5] === ['file' => __FILE__, 'line' => 6], 'the outermost frame is the file: ' . json_encode($trace[5]));
}

/* A log can be iterated while it grows. */
$p = profiler();
$seen = 0;
foreach ((function () use ($p) { work_until(fn() => count($p->getLog())); yield from $p->getLog(); })() as $entry) {
	work_until(fn() => count($p->getLog()) > $GLOBALS['seen'] + 1);
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
