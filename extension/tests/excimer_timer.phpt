--TEST--
excimer: one-shot, periodic, delayed, restarted and stopped timers, without a callback, and timers that destroy themselves
--INI--
strobe.compat=excimer
--FILE--
<?php
require __DIR__ . '/excimer.inc';

function timer(?float $interval, ?float $period, mixed $callback): ExcimerTimer
{
	$t = new ExcimerTimer();
	if ($interval !== null)
		$t->setInterval($interval);
	if ($period !== null)
		$t->setPeriod($period);
	$t->setCallback($callback);
	$t->start();
	return $t;
}

$told = [];
$note = function (...$a) use (&$told) { $told[] = $a; };

$t = timer(0.002, null, $note);
check(work_until(fn() => $GLOBALS['told']), 'one shot comes');
work(0.02);
check($told === [[1]] && $t->getTime() === 0.0, 'it comes once: ' . json_encode($told));
$t->start();
check(work_until(fn() => count($GLOBALS['told']) === 2), 'it can be started again');

$told = [];
$t = timer(null, 0.005, $note);
check(work_until(fn() => count($GLOBALS['told']) >= 5), 'a period comes again and again');
check($t->getTime() <= 0.005, 'the time to the next event');
$t->stop();
$n = count($told);
work(0.02);
check(count($told) === $n && $t->getTime() === 0.0, 'not after stop');

$told = [];
$t = timer(null, 0.01, $note);
usleep(105000);
work_until(fn() => $GLOBALS['told']);
check($told[0][0] >= 10, 'what was missed is told at once: ' . json_encode($told[0]));
$events = array_sum(array_column($told, 0));
$t->setPeriod(1000);
work_until(fn() => array_sum(array_column($GLOBALS['told'], 0)) >= $GLOBALS['events'] + 2);
$t->start();
$n = count($told);
work(0.03);
check(count($told) === $n && $t->getTime() > 900, 'a new period is heeded by the next start');

$at = [];
$begin = hrtime(true);
$t = timer(0.05, 0.01, function () use (&$at) { $at[] = hrtime(true); });
check(work_until(fn() => count($GLOBALS['at']) >= 3), 'periodic after a delay');
check($at[0] - $begin >= 50e6, 'the delay');
check($at[2] - $begin < 5e9, 'then the period');

$t = timer(100, null, $note);
check($t->getTime() > 90 && $t->getTime() <= 100, 'time left');
$t->setInterval(50);
$t->start();
check($t->getTime() > 40 && $t->getTime() <= 50, 'start while it runs starts again');

$told = [];
$t = timer(null, 0.001, $note);
work_until(fn() => $GLOBALS['told']);
$t->setCallback(null);
$n = count($told);
work(0.01);
check(count($told) === $n, 'no callback, no call');
$t->setCallback($note);
check(work_until(fn() => count($GLOBALS['told']) > $GLOBALS['n']), 'a callback again');
$t->stop();

$n = 0;
$t = timer(1000, 0.001, function () use (&$t, &$n) { $n++; $t = null; });
$t->setInterval(0.001);
$t->start();
work_until(fn() => $GLOBALS['n']);
work(0.01);
check($t === null && $n === 1, "a timer that its callback lets go of: $n");

$n = 0;
$t = timer(1000, 0.001, function () use (&$t, &$n) { $n++; $t->setCallback(function () use (&$n) { $n += 100; }); $t->stop(); });
$t->setInterval(0.001);
$t->start();
work_until(fn() => $GLOBALS['n']);
work(0.01);
check($n === 1, "a callback that replaces itself: $n");

$n = 0;
$t = timer(1000, null, function () use (&$t, &$n) { if (++$n < 4) $t->start(); });
$t->setInterval(0.001);
$t->start();
check(work_until(fn() => $GLOBALS['n'] === 4), 'a one shot that starts itself');

$n = 0;
$t = timer(null, 0.001, function () use (&$n) { $n++; });
unset($t);
work(0.01);
check($n === 0 || $n === 1, 'a timer that is gone');

$order = [];
foreach ([30, 10, 20] as $ms)
	$timers[] = timer($ms / 1000, null, function () use (&$order, $ms) { $order[] = $ms; });
check(work_until(fn() => count($GLOBALS['order']) === 3), 'several at a time');
sort($order);
check($order === [10, 20, 30], json_encode($order));

class Callee
{
	public array $calls = [];
	function __call($name, $a) { $this->calls[] = "$name " . json_encode($a); }
	function __invoke($n) { $this->calls[] = "invoke $n"; }
	function method($n) { $this->calls[] = "method $n"; }
	static function how($n) { $GLOBALS['static'] = $n; }
}
$o = new Callee();
foreach ([[$o, 'any'], $o, [$o, 'method'], $o->method(...), 'Callee::how', ['Callee', 'how']] as $callback) {
	$before = count($o->calls);
	$static = null;
	$t = excimer_set_timeout($callback, 0.001);
	work_until(fn() => count($o->calls) > $GLOBALS['before'] || $GLOBALS['static'] !== null);
}
check($o->calls === ['any [1]', 'invoke 1', 'method 1', 'method 1'] && $static === 1, json_encode($o->calls));

/* Whether a callback may be called is also asked in the code that is interrupted, which sees no private methods. */
set_error_handler(function ($type, $text) { echo "$text\n"; $GLOBALS['warned'] = true; return true; });
class Warned
{
	private function hidden() {}
	function timer() { $t = timer(null, 1000, null); $t->setPeriod(0.001); $t->setCallback([$this, 'hidden']); $t->start(); return $t; }
}
$t = (new Warned())->timer();
check(work_until(fn() => $GLOBALS['warned'] ?? false), 'the warning');
work(0.01);
check($t->getTime() === 0.0, 'and it is stopped');
restore_error_handler();
echo "done\n";
?>
--EXPECT--
ExcimerTimer callback is not callable (during event): cannot access private method Warned::hidden()
done
