<?php
/* Makes about $argv[2] calls of the kind $argv[1], $argv[4] times over, and prints as JSON how many calls each time
 * were and the CPU nanoseconds of each time.
 *
 * $argv[3] says who watches: "none", "off" (loaded, never started), "FUNCTION/FUNCTION FLAGS" such as
 * "tideways_xhprof_enable/tideways_xhprof_disable 4", or "strobe:METRICS" of Strobe's own API, such as
 * "strobe:COUNTS", or "chart:METRICS", the same with a flame chart. Only the time between start and stop is measured,
 * without making the result.
 */
function plain(int $x): int
{
	return $x + 1;
}

final class Counter
{
	private int $n = 0;

	public function method(int $x): int
	{
		return $this->n += $x;
	}
}

function fib(int $n): int
{
	return $n < 2 ? $n : fib($n - 1) + fib($n - 2);
}

function even(int $depth): int
{
	return $depth > 0 ? odd($depth - 1) + 1 : 0;
}

function odd(int $depth): int
{
	return $depth > 0 ? even($depth - 1) + 1 : 0;
}

/* Each makes whole rounds of calls and returns their number. */
function calls(int $n): int
{
	for ($i = 0; $i < $n; $i++)
		plain($i);
	return $n;
}

function method(int $n): int
{
	$c = new Counter();
	for ($i = 0; $i < $n; $i++)
		$c->method($i);
	return $n;
}

function recursion(int $n): int
{
	for ($i = 0; $i < $n; $i += 177)
		fib(10);
	return $i;
}

function internal(int $n): int
{
	for ($i = 0; $i < $n; $i++)
		abs($i);
	return $n;
}

/* None of these is compiled to an opcode, so that all profilers see the same calls. */
function mixed_internals(int $n): int
{
	$words = [3, 1, 2];
	for ($i = 0; $i < $n; $i += 5) {
		abs($i);
		max($i, 7);
		trim(' x ');
		array_sum($words);
		str_repeat('x', 3);
	}
	return $i;
}

function deep(int $n): int
{
	for ($i = 0; $i < $n; $i += 200)
		even(199);
	return $i;
}

/* Each resume() returns by a suspend(). */
function fiber(int $n): int
{
	$f = new Fiber(function () { for (;;) Fiber::suspend(); });
	$f->start();
	for ($i = 0; $i < $n; $i++)
		$f->resume();
	return $n;
}

function cpu_ns(): int
{
	$u = getrusage();
	return ($u['ru_utime.tv_sec'] + $u['ru_stime.tv_sec']) * 1_000_000_000
		+ ($u['ru_utime.tv_usec'] + $u['ru_stime.tv_usec']) * 1000;
}

[, $kind, $calls, $watcher, $times] = $argv;
$start = $stop = null;
if (preg_match('/^(strobe|chart):(.*)/', $watcher, $m)) {
	$metrics = array_sum(array_map(fn($name) => constant("Strobe\\$name"), explode('+', $m[2])));
	$options = $m[1] === 'chart' ? ['flame_chart' => true] : [];
	$start = function () use ($metrics, $options) { $GLOBALS['trace'] = Strobe\Trace::start($metrics, $options); };
	$stop = function () { return ['ct' => ['ct' => $GLOBALS['trace']->stop()->getTotals()['calls']]]; };
} elseif (str_contains($watcher, '/')) {
	[$functions, $flags] = explode(' ', $watcher);
	[$start, $stop] = explode('/', $functions);
	$flags = (int)$flags;
}

// The first calls fill caches, and show whether functions that ran before the start are traced.
$kind(1000);
$taken = [];
for ($i = 0; $i < (int)$times; $i++) {
	if ($start)
		isset($flags) ? $start($flags) : $start();
	$before = cpu_ns();
	$made = $kind((int)$calls);
	$taken[] = cpu_ns() - $before;
	if ($stop)
		$result = $stop();
}
$seen = null;
if (isset($result) && is_array($result))
	$seen = array_sum(array_column($result, 'ct'));
echo json_encode(['calls' => $made, 'ns' => $taken, 'seen' => $seen]);
