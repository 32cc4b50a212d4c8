--TEST--
excimer: EXCIMER_CPU counts only CPU time
--INI--
strobe.compat=excimer
--FILE--
<?php
require __DIR__ . '/excimer.inc';

function cpu(): float
{
	$u = getrusage();
	return $u['ru_utime.tv_sec'] + $u['ru_stime.tv_sec'] + ($u['ru_utime.tv_usec'] + $u['ru_stime.tv_usec']) / 1e6;
}
function sleeping() { usleep(300000); }
function computing() { for ($end = cpu() + 0.2; cpu() < $end;) for ($i = 0; $i < 200; $i++); }

$p = new ExcimerProfiler();
$p->setEventType(EXCIMER_CPU);
$p->setPeriod(0.001);
$start = cpu();
$p->start();
sleeping();
$asleep = $p->getLog()->getEventCount();
computing();
$p->stop();
$ms = (cpu() - $start) * 1000;
$log = $p->flush();
$events = $log->getEventCount();
check($asleep < 30, "asleep: $asleep");
check($events > 50 && $events <= $ms + 2, "$events events in $ms ms of CPU time");
check(($log->aggregateByFunction()['computing']['inclusive'] ?? 0) > 0.8 * $events, 'in computing()');

$told = 0;
$t = new ExcimerTimer();
$t->setEventType(EXCIMER_CPU);
$t->setPeriod(0.005);
$t->setCallback(function ($n) use (&$told) { $told += $n; });
$t->start();
sleeping();
check($told <= 4, "a timer, asleep: $told");
$left = $t->getTime();
check($left > 0 && $left <= 0.005, "time left: $left");
computing();
check($told >= 10, "a timer, computing: $told");
$t->stop();

/* The type is heeded by the next start. */
$p->setEventType(EXCIMER_REAL);
$p->start();
usleep(50000);
work_until(fn() => count($p->getLog()));
check($p->flush()->getEventCount() >= 40, 'real time again');
echo "done\n";
?>
--EXPECT--
done
