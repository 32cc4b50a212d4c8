--TEST--
excimer: profilers fill logs, pass full ones to a callback, and keep the rest for flush() and the destructor
--INI--
strobe.compat=excimer
--FILE--
<?php
require __DIR__ . '/excimer.inc';

$p = profiler();
$log = $p->getLog();
check(work_until(fn() => count($log) >= 5), 'samples come');
check($p->getLog() === $log, 'the same log each time');
$p->stop();
$n = count($log);
work(0.01);
check(count($log) === $n, 'none after stop');
check($p->flush() === $log && $p->getLog() !== $log && count($p->getLog()) === 0, 'flush gives the log and begins another');
check($log->getEventCount() >= count($log), 'events');

/* Time goes on from one log to the next, from the profiler's construction. */
$p->start();
work_until(fn() => count($p->getLog()));
$p->start();
work_until(fn() => count($p->getLog()) >= 2);
$p->stop();
$second = $p->flush();
check($second[0]->getTimestamp() > $log[count($log) - 1]->getTimestamp(), 'timestamps go on');
check($log[0]->getTimestamp() > 0 && $second[0]->getTimestamp() < 60, 'timestamps are seconds since construction');
for ($i = 1; $i < count($log); $i++)
	check($log[$i]->getTimestamp() >= $log[$i - 1]->getTimestamp(), 'in order');

/* A sleep is one entry for many events. */
$p->start();
usleep(50000);
work_until(fn() => count($p->getLog()));
$p->stop();
$slept = $p->flush();
check(max(array_map(fn($e) => $e->getEventCount(), iterator_to_array($slept))) >= 40, 'missed periods');
check(array_sum(array_map(fn($e) => $e->getEventCount(), iterator_to_array($slept))) === $slept->getEventCount(), 'sum of events');

/* Full logs. */
$calls = [];
$callback = function (...$a) use (&$calls, $p) { $calls[] = [count($a), get_class($a[0]), count($a[0]), $a[0] === $p->getLog()]; };
$p->setFlushCallback($callback, 3);
$p->start();
check(work_until(fn() => count($GLOBALS['calls']) >= 3), 'full logs are told of');
$p->stop();
check($calls[0] === [1, 'ExcimerLog', 3, false] && $calls[1] === $calls[0] && $calls[2] === $calls[0], json_encode($calls));
$calls = [];
$log = $p->flush();
check($calls === [[1, 'ExcimerLog', count($log), false]], 'flush() tells too: ' . json_encode($calls));
$p->clearFlushCallback();
$calls = [];
$p->flush();
check($calls === [], 'nobody is told any more');

$p->setFlushCallback($callback, 0);
$p->start();
check(work_until(fn() => count($p->getLog()) > 20), 'no limit');
check($calls === [], 'no limit, no call');
$p->stop();
$p->clearFlushCallback();
unset($p, $callback);

/* The destructor. */
function short(float $period): void
{
	$p = new ExcimerProfiler();
	$p->setPeriod($period);
	$p->setFlushCallback(function ($log) { echo 'destructor: ', count($log) ? 'some' : 'none', "\n"; }, 1000000);
	$p->start();
	if ($period < 1)
		work_until(fn() => count($p->getLog()));
}
short(0.001);
short(1000);

/* A profiler that its own callback lets go of. */
$n = 0;
$p = profiler();
$p->setFlushCallback(function () use (&$p, &$n) { $n++; $p = null; }, 1);
check(work_until(fn() => $GLOBALS['n']), 'flushed');
work(0.01);
check($n === 1 && $p === null, "once: $n");

/* Two at a time. */
$a = profiler();
$b = profiler();
check(work_until(fn() => count($a->getLog()) > 3 && count($b->getLog()) > 3), 'two profilers');

/* The first interval is a random part of the period, the others are whole. */
$first = [];
for ($i = 0; $i < 40; $i++) {
	$p = new ExcimerProfiler();
	$p->setPeriod(0.01);
	$start = hrtime(true);
	$p->start();
	while (!count($p->getLog()) && hrtime(true) - $start < 1e9)
		work(0.0002);
	$first[] = (hrtime(true) - $start) / 1e6;
	$p->stop();
}
check(min($first) < 5, 'some early: ' . json_encode($first));
check(count(array_unique(array_map(fn($ms) => (int)$ms, $first))) > 3, 'at various times: ' . json_encode($first));

/* Whether a callback may be called is checked in the scope of the interrupted code. */
class Hidden
{
	private function full() {}
	function profiler() { $p = profiler(); $p->setFlushCallback([$this, 'full'], 1); return $p; }
}
set_error_handler(function ($type, $text) { echo "$text\n"; $GLOBALS['warned'] = true; return true; });
$p = (new Hidden())->profiler();
check(work_until(fn() => $GLOBALS['warned'] ?? false), 'a warning');
$p->clearFlushCallback();
work(0.01);
check(count($p->getLog()) === 0, 'and it has been stopped');

class Mine extends ExcimerProfiler { public $note = 1; function start() { echo "mine\n"; parent::start(); } }
$p = new Mine();
$p->setPeriod(0.001);
$p->start();
check(work_until(fn() => count($p->getLog())), 'of a subclass');
echo "done\n";
?>
--EXPECT--
destructor: some
ExcimerProfiler callback is not callable (during event): cannot access private method Hidden::full()
mine
done
