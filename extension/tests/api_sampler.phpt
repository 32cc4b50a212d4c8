--TEST--
Strobe\Sampler: shares of time by function, clocks, depth, restart, misuse; start and stop take microseconds
--FILE--
<?php
require __DIR__ . '/strobe.inc';
eval(BUSY . DOZE);

use Strobe\Sampler;

function twice() { doze(0.8); }
function once() { doze(0.4); }
function hashes() { for ($end = microtime(true) + 0.3; microtime(true) < $end; ) hash('sha256', str_repeat('x', 200000)); }
function deep($n) { if ($n) deep($n - 1); else busy(0.2); }

/* Inclusive samples of a function. */
function samples(Strobe\Profile $p, string $name): int
{
	return array_column($p->getFunctions(), null, 'name')[$name]['inclusive']['samples'] ?? 0;
}

$s = new Sampler(0.001);
check(!$s->isRunning(), 'not yet');
$s->start();
check($s->isRunning(), 'it runs');
$times = [hrtime(true)];
twice();
$times[] = hrtime(true);
once();
$times[] = hrtime(true);
hashes();
$p = $s->stop();
check(!$s->isRunning(), 'it has stopped');
$total = $p->getTotals();
check($p->getMetrics() === ['wall_ns' => 'nanoseconds', 'samples' => 'count'], json_encode($p->getMetrics()));
check($total['samples'] >= 1400 && $total['samples'] <= $p->getDuration() * 1000 + 1 && $total['wall_ns'] === $total['samples'] * 1000000, json_encode($total));
$ms = [($times[1] - $times[0]) / 1e6, ($times[2] - $times[1]) / 1e6];
/* A late sample counts for the function that runs then. */
check(abs(samples($p, 'twice') - $ms[0]) < 100 && abs(samples($p, 'once') - $ms[1]) < 100 && samples($p, 'doze') >= 1000, json_encode([$ms, samples($p, 'twice'), samples($p, 'once')]));
check(samples($p, 'hash') + samples($p, 'str_repeat') > 0.6 * samples($p, 'hashes'), 'internal functions are leaves: ' . samples($p, 'hash') . ' of ' . samples($p, 'hashes'));
check(preg_match('~^\S*/api_sampler.php;twice;doze;usleep \d+$~m', $p->toFolded()) === 1, $p->toFolded());
check(!str_contains($p->toFolded(), 'main()'), 'there is no root but the script');
$s->start();
(function () {
	doze(0.1);
})();
$pairs = array_keys($s->stop()->toXhprof());
check(count(preg_grep('~^\{closure\}::\S+/api_sampler\.php/\d+==>doze$~', $pairs)) === 1, implode(' ', $pairs));
check($p->getFunctions()[0]['calls'] === null && array_sum(array_column(array_column($p->getFunctions(), 'exclusive'), 'samples')) === $total['samples'], 'functions');
check(json_decode(json_encode($p), true)['profiles'][0]['endValue'] === $total['wall_ns'], 'speedscope');
check($p->toXhprof()['main()'] === ['ct' => $total['samples'], 'wt' => intdiv($total['wall_ns'], 1000)], json_encode($p->toXhprof()['main()']));
check(str_contains($p->toPprof(), 'samples') && $p->getFoldedCalls() === 0, 'pprof');

// CPU time does not pass in sleep; each start begins anew.
$s = new Sampler(period: 0.004, clock: 'cpu');
$s->start();
usleep(200000);
$slept = $s->stop();
$cpu = fn() => array_sum(array_map(fn($k) => getrusage()["ru_$k.tv_sec"] * 1e9 + getrusage()["ru_$k.tv_usec"] * 1e3, ['utime', 'stime']));
$used = -$cpu();
$s->start();
busy(0.2);
$p = $s->stop();
$used += $cpu();
check(count($slept) <= 3 && samples($slept, 'busy') === 0, 'asleep: ' . $slept->toFolded());
check(abs($p->getTotals()['cpu_ns'] - $used) < 0.2 * $used + 15e6, json_encode($p->getTotals()) . " for $used ns");
check(array_keys($p->getMetrics()) === ['cpu_ns', 'samples'] && samples($p, 'usleep') === 0, json_encode($p->getTotals()));

// Depth.
$s = new Sampler(0.001, maxDepth: 20);
$s->start();
deep(200);
$p = $s->stop();
$line = current(preg_grep('~elided.*;busy[ ;]~', explode("\n", $p->toFolded('samples')))) ?: $p->toFolded();
check(substr_count($line, ';') === 20 && str_contains($line, ';[elided];') && preg_match('~^\S*/api_sampler.php;deep;deep;.*;busy( |;)~', $line) === 1, $line);

// Several at once, some dropped; many.
$a = new Sampler(0.001);
$b = new Sampler(0.002);
$a->start();
$b->start();
doze(0.5);
$dropped = new Sampler(0.001);
$dropped->start();
busy(0.02);
unset($dropped);
[$p, $q] = [$a->stop(), $b->stop()];
check(abs($p->getTotals()['wall_ns'] - $q->getTotals()['wall_ns']) < 150e6 && $q->getTotals()['samples'] > 150, 'two at once');
$tasks = count(scandir('/proc/self/task'));
for ($i = 0; $i < 2000; $i++) {
	$s = new Sampler(0.001);
	$s->start();
	if ($i % 2)
		$s->stop();
}
check(count(scandir('/proc/self/task')) === $tasks, 'one thread for all');

// More different stacks than one block of memory holds.
$code = '';
for ($i = 0; $i < 600; $i++)
	$code .= "function f$i(\$n) { if (\$n) { \$f = 'f' . ((\$n * 7919 + $i) % 600); return \$f(\$n - 1); } usleep(1500); }\n";
eval($code);
$s = new Sampler(0.0001, maxDepth: 8192);
$s->start();
for ($i = 0; $i < 600; $i++)
	("f$i")(200);
$p = $s->stop();
check(count($p) > 40000, count($p) . ' paths');
check($p->getFoldedCalls() === 0 && array_sum(array_column(array_column($p->getFunctions(), 'exclusive'), 'samples')) === $p->getTotals()['samples'], 'nothing is lost');

// Cost, best of some.
$s = new Sampler;
$s->start();
$s->stop();
for ($i = 0, $best = INF; $i < 200; $i++) {
	$t = hrtime(true);
	$s->start();
	$s->stop();
	$best = min($best, hrtime(true) - $t);
}
check($best < (getenv('LD_PRELOAD') || getenv('USE_ZEND_ALLOC') === '0' ? 200000 : 5000), "start and stop take $best ns");

function thrown(callable $f): string
{
	try {
		$f();
	} catch (Throwable $e) {
		return get_class($e) . ': ' . $e->getMessage();
	}
	return 'nothing';
}
$running = new Sampler;
$running->start();
foreach ([fn() => new Sampler(0), fn() => new Sampler(NAN), fn() => new Sampler(3601.0), fn() => new Sampler('x'), fn() => new Sampler(0.01, 'real'), fn() => new Sampler(0.01, 'wall', 3),
	fn() => new Sampler(maxDepth: 8193), fn() => $running->start(), fn() => (new Sampler)->stop(), fn() => $running->__construct(), fn() => clone $running, fn() => serialize($running)] as $misuse)
	echo thrown($misuse), "\n";
$running->stop();
echo thrown(fn() => $running->stop()), "\n";
$GLOBALS['kept'] = new Sampler;
$GLOBALS['kept']->start();
echo "done\n";
?>
--EXPECT--
ValueError: Strobe\Sampler::__construct(): Argument #1 ($period) must be between 0.0001 and 3600 seconds
ValueError: Strobe\Sampler::__construct(): Argument #1 ($period) must be between 0.0001 and 3600 seconds
ValueError: Strobe\Sampler::__construct(): Argument #1 ($period) must be between 0.0001 and 3600 seconds
TypeError: Strobe\Sampler::__construct(): Argument #1 ($period) must be of type float, string given
ValueError: Strobe\Sampler::__construct(): Argument #2 ($clock) must be either "wall" or "cpu"
ValueError: Strobe\Sampler::__construct(): Argument #3 ($maxDepth) must be between 4 and 8192
ValueError: Strobe\Sampler::__construct(): Argument #3 ($maxDepth) must be between 4 and 8192
Strobe\Exception: The sampler is running already
Strobe\Exception: The sampler is not running
Strobe\Exception: The sampler is running
Error: Trying to clone an uncloneable object of class Strobe\Sampler
Exception: Serialization of 'Strobe\Sampler' is not allowed
Strobe\Exception: The sampler is not running
done
