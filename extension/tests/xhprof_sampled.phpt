--TEST--
xhprof's sampling mode: one entry per interval on the time grid, the stack as text; needs no call observer
--INI--
strobe.compat=xhprof
strobe.instrument=0
--FILE--
<?php
function foo() { usleep(850000); }
function bar() { foo(); }
/* It sleeps, in steps shorter than a sample, and computes in the end. */
function stay($seconds) { for ($end = microtime(true) + $seconds; ($now = microtime(true)) < $end;) if ($now < $end - 0.05) usleep(700); }
function rec($n) { if ($n) rec($n - 1); else stay(0.4); }
function on() { global $times; return $times->start(); }
class C { function m() { (function () { stay(0.4); })(); } }

/* When sampling was started and stopped: no earlier and no later than the time before and after the call. */
class Times
{
	public array $started, $stopped;

	function start() { $t = microtime(true); $r = xhprof_sample_enable(); $this->started = [$t, microtime(true)]; return $r; }
	function stop(string $disable = 'xhprof_sample_disable') { $t = microtime(true); $r = $disable(); $this->stopped = [$t, microtime(true)]; return $r; }

	/* One more or less at either end, by where they lie on the grid. */
	function check_count(int $found, int $us, int $off = 1): void
	{
		$least = (int)(($this->stopped[0] - $this->started[1]) * 1e6 / $us) - $off;
		$most = (int)(($this->stopped[1] - $this->started[0]) * 1e6 / $us) + $off;
		if ($found < $least || $found > $most)
			echo "$us: $found samples, not $least to $most\n";
	}
}

/* Keys follow each other by the interval, on its grid, and lie between start and end (a key is the time of its interval's begin). */
function check_keys(array $samples, int $us, Times $times): void
{
	$start = $times->started[0];
	$end = $times->stopped[1];
	$previous = null;
	foreach ($samples as $key => $stack) {
		[$s, $fraction] = explode('.', $key);
		$t = $s * 1000000 + $fraction;
		if (strlen($fraction) !== 6 || $t % $us)
			echo "$key is not on the grid\n";
		if ($previous !== null && $t !== $previous + $us)
			echo "$key does not follow $previous\n";
		$previous = $t;
	}
	$times->check_count(count($samples), $us);
	if ($samples && (array_key_first($samples) < $start - $us / 1e6 || array_key_last($samples) > $end + $us / 1e6))
		echo 'from ', array_key_first($samples), ' to ', array_key_last($samples), " instead of $start to $end\n";
}

/* Whether stay() ran for most of its 400 ms in stacks of this form and in no other. If the process is preempted elsewhere, there are more samples there. */
function is_where_it_stayed(array $samples, string $pattern): bool
{
	$there = preg_grep('~(stay|microtime|usleep)$~', $samples);
	return count($there) > 200 && preg_grep($pattern, $there) === $there;
}

function share(array $samples, string $pattern): float
{
	return count(preg_grep($pattern, $samples)) / max(1, count($samples));
}

var_dump(xhprof_sample_disable());

$times = new Times;
var_dump(on());
bar();
var_dump(xhprof_sample_enable());
$r = $times->stop();
check_keys($r, 100000, $times);
if (count(array_keys($r, 'main()==>bar==>foo==>usleep', true)) < 7)
	var_dump($r);

ini_set('xhprof.sampling_interval', '1000');
// At times the machine looks away, and a stack is seen late.
for ($try = 0; $try < 5; $try++) {
	$times->start();
	rec(3);
	(new C)->m();
	$r = $times->stop('xhprof_disable');
	check_keys($r, 1000, $times);
	if ($good = share($r, '~^main\(\)==>rec==>rec@1==>rec@2==>rec@3==>stay(==>(microtime|usleep))?$~') > 0.4 &&
			share($r, '~^main\(\)==>C::m==>C::\{closure[^}]*\}==>stay(==>(microtime|usleep))?$~') > 0.4)
		break;
}
if (!$good)
	var_dump(array_count_values($r));

foreach ([[1, '~^(stay|microtime|usleep)$~'], [0, '~^(stay|microtime|usleep)$~'], [2, '~^(rec@3==>stay|stay==>(microtime|usleep))$~'], [4, '~^(rec@1==>rec@2==>rec@3==>stay|rec@2==>rec@3==>stay==>(microtime|usleep))$~']] as [$depth, $pattern]) {
	ini_set('xhprof.sampling_depth', $depth);
	xhprof_sample_enable();
	rec(3);
	$r = xhprof_sample_disable();
	if (!is_where_it_stayed($r, $pattern))
		var_dump($depth, array_count_values($r));
}

// Fibers, also one in another; a stack begins where sampling was started.
ini_set('xhprof.sampling_depth', '2147483647');
xhprof_sample_enable();
$outer = new Fiber(function () {
	Fiber::suspend();
	$inner = new Fiber(fn() => stay(0.4));
	$inner->start();
});
$outer->start();
$outer->resume();
$r = xhprof_sample_disable();
// PHP 8.4 names a closure by the one that it is in, braces and all.
if (!is_where_it_stayed($r, '~^main\(\)==>Fiber::resume==>\{closure.*\}==>Fiber::start==>\{closure.*\}(@1)?==>stay(==>(microtime|usleep))?$~'))
	var_dump(array_count_values($r));

// Never less than 100 µs.
foreach (['100', '7', '0', '-5'] as $interval) {
	ini_set('xhprof.sampling_interval', $interval);
	$times->start();
	stay(0.02);
	$times->check_count(count($times->stop()), 100, 3);
}

// Nor so long that nanoseconds would not fit into a number.
foreach (['2305843009213693952', '9223372036854775807', '9223372036854776'] as $interval) {
	ini_set('xhprof.sampling_interval', $interval);
	xhprof_sample_enable();
	stay(0.001);
	if (xhprof_sample_disable() !== [])
		echo "$interval: samples\n";
}

ini_set('xhprof.sampling_interval', '1000');
// Nothing is left when one is not ended.
xhprof_sample_enable();
stay(0.01);
echo "done\n";
?>
--EXPECT--
NULL
NULL
NULL
done
