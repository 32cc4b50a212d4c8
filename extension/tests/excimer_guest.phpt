--TEST--
excimer: random numbers, memory, threads and open files of the program are unaffected; unused objects are freed
--INI--
strobe.compat=excimer
--FILE--
<?php
require __DIR__ . '/excimer.inc';

mt_srand(1);
$numbers = [mt_rand(), mt_rand(), mt_rand()];
mt_srand(1);
$again = [mt_rand()];
$p = profiler();
$p->setPeriod(0.5);
$again[] = mt_rand();
$p->stop();
unset($p);
$again[] = mt_rand();
check($numbers === $again, 'mt_rand: ' . json_encode([$numbers, $again]));

function status(string $name): int
{
	preg_match("/^$name:\s+(\d+)/m", file_get_contents('/proc/self/status'), $m);
	return (int)$m[1];
}
function round_of_all(): void
{
	$p = new ExcimerProfiler();
	$p->setFlushCallback(function () {}, 5);
	$p->setFlushCallback(function () {}, 500);
	$p->start();
	$timers = [excimer_set_timeout(function () {}, 60), new ExcimerTimer()];
	$timers[1]->setPeriod(0.0005);
	$timers[1]->setCallback(fn() => 1);
	$timers[1]->start();
	@excimer_set_timeout('no_such_function', 0.0001);
	@$p->setFlushCallback('no_such_function', 1);
	$p->flush()->current();
	$p->stop();
}
for ($i = 0; $i < 300; $i++)
	round_of_all();
gc_collect_cycles();
$before = [memory_get_usage(), status('Threads'), count(scandir('/proc/self/fd')), status('VmRSS')];
for ($i = 0; $i < 5000; $i++)
	round_of_all();
gc_collect_cycles();
$after = [memory_get_usage(), status('Threads'), count(scandir('/proc/self/fd')), status('VmRSS')];
/* AddressSanitizer keeps what is freed for a while. */
$grown = getenv('USE_ZEND_ALLOC') === '0' ? 0 : $after[3] - $before[3];
check($after[0] - $before[0] < 2000 && $after[1] === $before[1] && $after[2] === $before[2] && $grown < 2048,
	json_encode([$before, $after]));
check($after[1] <= 2, "one thread for all timers: $after[1]");

/* A log does not count against memory_limit, and a sample of a known stack is small. */
$p = new ExcimerProfiler();
$p->setPeriod(0.00005);
$p->start();
$memory = memory_get_usage();
work_until(fn() => count($p->getLog()) > 3000);
$p->stop();
check(memory_get_usage() - $memory < 2000, 'samples are not PHP memory');
unset($p);

/* Timers and logs that only know each other. */
function alone(bool $running): void
{
	$t = new ExcimerTimer();
	$t->setCallback(function () use ($t) { $GLOBALS['ticks']++; });
	$t->setPeriod(0.001);
	if ($running)
		$t->start();
}
gc_collect_cycles();
$ticks = 0;
alone(false);
check(gc_collect_cycles() >= 2, 'a stopped timer is garbage');
alone(true);
gc_collect_cycles();
check(work_until(fn() => $GLOBALS['ticks'] > 3), 'a running one is in use');

$log = profiled(fn() => work(0.001), 2);
$log->current();
unset($log);
check(gc_collect_cycles() >= 2, 'a log and its current entry');
function profiling(): void
{
	$p = profiler();
	$p->setFlushCallback(function ($log) use ($p) {}, 100000);
	$p->stop();
}
profiling();
check(gc_collect_cycles() >= 2, 'a stopped profiler is garbage');
echo "done\n";
?>
--EXPECT--
done
