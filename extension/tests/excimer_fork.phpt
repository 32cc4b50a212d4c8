--TEST--
excimer: profilers and timers continue in forked children and grandchildren
--EXTENSIONS--
pcntl
--INI--
strobe.compat=excimer
--FILE--
<?php
require __DIR__ . '/excimer.inc';

$ticks = 0;
$t = new ExcimerTimer();
$t->setPeriod(0.001);
$t->setCallback(function () use (&$ticks) { $ticks++; });
$t->start();
$p = profiler();
$cpu = new ExcimerProfiler();
$cpu->setEventType(EXCIMER_CPU);
$cpu->setPeriod(0.001);
$cpu->start();
work_until(fn() => count($p->getLog()) > 3 && $GLOBALS['ticks'] > 3);

function in_child(string $who): void
{
	global $p, $cpu, $ticks;
	$p->flush();
	$cpu->flush();
	$ticks = 0;
	$fresh = profiler();
	check(work_until(fn() => count($p->getLog()) > 5), "$who: the profiler goes on");
	check(work_until(fn() => count($cpu->getLog()) > 5), "$who: that of CPU time too");
	check(work_until(fn() => count($fresh->getLog()) > 5), "$who: so does a new one");
	check(work_until(fn() => $GLOBALS['ticks'] > 5), "$who: the timer goes on");
	$p->stop();
	$p->start();
	check(work_until(fn() => count($p->getLog()) > 20), "$who: stopped and started");
}
function forked(callable $f): void
{
	$pid = pcntl_fork();
	if ($pid === 0) {
		$f();
		exit(7);
	}
	pcntl_waitpid($pid, $status);
	check(pcntl_wifexited($status) && pcntl_wexitstatus($status) === 7, "the child ends well: $status");
}
forked(function () {
	in_child('child');
	forked(fn() => in_child('grandchild'));
	in_child('child again');
});
forked(fn() => 1);
in_child('parent');
echo "done\n";
?>
--EXPECT--
done
