--TEST--
excimer: exceptions thrown by callbacks propagate to the interrupted code without side effects
--INI--
strobe.compat=excimer
--FILE--
<?php
require __DIR__ . '/excimer.inc';

function interrupted(?callable $begin = null): void
{
	try {
		if ($begin)
			$begin();
		work(30);
		echo "NOT TRUE: it was never interrupted\n";
	} finally {
		echo "finally\n";
	}
}

$t = excimer_set_timeout(function ($n) { throw new LogicException("timeout $n"); }, 0.3);
try {
	interrupted();
} catch (LogicException $e) {
	/* PHP 8.4 interrupts calls of internal functions, too, while their frames are there. */
	$functions = array_diff(array_column($e->getTrace(), 'function'), ['microtime']);
	echo get_class($e), ' ', $e->getMessage(), ': ', preg_replace('~\{closure:[^}]*\}~', '{closure}', implode(' < ', $functions)), "\n";
}

/* Two that are due at the same time: the second waits until the first exception is handled. */
try {
	foreach ([1, 2] as $i)
		$timers[$i] = excimer_set_timeout(function () use ($i) { throw new LogicException((string)$i); }, 0.5);
	try {
		usleep(600000);
		work(30);
	} catch (LogicException $first) {
		work(30);
	}
	echo "NOT TRUE: one of them never came\n";
} catch (LogicException $second) {
	$seen = [];
	foreach ([$first, $second] as $e)
		$seen[] = $e->getMessage() . ($e->getPrevious() ? ' after another' : '');
	sort($seen);
	echo json_encode($seen), "\n";
}

/* Out of a flush callback, the first one and the one that is asked for. */
$throws = true;
try {
	interrupted(function () use (&$p, &$throws) {
		$p = profiler();
		$p->setFlushCallback(function () use (&$throws) {
			if (!$throws)
				return;
			$throws = false;
			throw new DomainException('full');
		}, 1);
	});
} catch (DomainException $e) {
	echo $e->getMessage(), "\n";
}
$p->stop();
$throws = true;
echo told(fn() => $p->flush()), "\n";
$p->clearFlushCallback();

/* Out of the destructor's flush. */
function destroyed(?Exception $thrown, callable $callback): void
{
	$p = profiler();
	$p->setFlushCallback($callback, 100000);
	work_until(fn() => count($p->getLog()));
	if ($thrown)
		throw $thrown;
}
$fail = function () { throw new DomainException('in the destructor'); };
$see = function ($log) { echo get_class($log), ' ', count($log) > 0 ? 'with' : 'without', " samples\n"; };
echo told(fn() => destroyed(null, $fail)), "\n";
echo told(fn() => destroyed(new Exception('first'), $see)), "\n";
try {
	destroyed(new Exception('first'), $fail);
} catch (Exception $e) {
	echo $e->getMessage(), ' after ', $e->getPrevious()->getMessage(), "\n";
}

class Subclass extends ExcimerProfiler { function __destruct() { echo "its own destructor\n"; } }
$s = new Subclass();
unset($s);

/* An exception that is being handled while a timer ticks. */
$ticks = 0;
$t = new ExcimerTimer();
$t->setPeriod(0.0005);
$t->setCallback(function () use (&$ticks) { $ticks++; });
$t->start();
$caught = 0;
$thrown = 0;
check(work_until(function () use (&$caught, &$thrown, &$ticks) {
	for ($i = 0; $i < 200; $i++) {
		$thrown++;
		try {
			try { throw new Exception(); } finally { work(0.00001); }
		} catch (Exception) { $caught++; }
	}
	return $ticks > 20;
}), 'ticks among exceptions');
check($caught === $thrown, 'none is lost');
echo "done\n";
?>
--EXPECT--
finally
LogicException timeout 1: {closure} < work < interrupted
["1","2"]
finally
full
DomainException: full
DomainException: in the destructor
ExcimerLog with samples
Exception: first
in the destructor after first
its own destructor
done
