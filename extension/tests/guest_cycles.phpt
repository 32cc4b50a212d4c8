--TEST--
Repeated start and stop of every API leaks no threads, descriptors, timers or memory
--EXTENSIONS--
sockets
--FILE--
<?php
require __DIR__ . '/guest.inc';

$code = <<<'PHP'
<?php
function small(int $n): int { return $n + strlen(str_repeat('x', $n & 7)); }
class Holder { public $kept; }
function status(): array
{
	$status = file_get_contents('/proc/self/status');
	preg_match('/^VmRSS:\s+(\d+)/m', $status, $rss);
	return ['threads' => count(scandir('/proc/self/task')) - 2, 'descriptors' => count(scandir('/proc/self/fd')),
		'timers' => substr_count((string)@file_get_contents('/proc/self/timers'), 'ID:'), 'mappings' => count(file('/proc/self/maps')),
		'php' => memory_get_usage(), 'rss' => (int)$rss[1]];
}
$holder = new Holder;
$cycles = [
	'tideways_xhprof' => function ($i) { tideways_xhprof_enable(); small($i); return tideways_xhprof_disable(); },
	'tideways_xhprof, all metrics' => function ($i) { tideways_xhprof_enable(23); small($i); return tideways_xhprof_disable(); },
	'xhprof' => function ($i) { xhprof_enable(6, ['ignored_functions' => ['strlen', 'no_such']]); small($i); return xhprof_disable(); },
	'xhprof, by samples' => function ($i) { xhprof_sample_enable(); small($i); return xhprof_sample_disable(); },
	'uprofiler' => function ($i) { uprofiler_enable(); small($i); return uprofiler_disable(); },
	'nested' => function ($i) { xhprof_enable(); tideways_xhprof_enable(1); small($i); xhprof_disable(); return tideways_xhprof_disable(); },
	'in a fiber' => function ($i) {
		$f = new Fiber(function () use ($i) { tideways_xhprof_enable(); small($i); Fiber::suspend(); });
		$f->start();
		small($i);
		return tideways_xhprof_disable();
	},
	'a closure of its own' => function ($i) { tideways_xhprof_enable(); (function () use ($i) { static $x = 1; return $i + $x; })(); return tideways_xhprof_disable(); },
	'Strobe\\Trace' => function ($i) { $t = Strobe\Trace::start(31); small($i); return $t->stop(); },
	'Strobe\\Trace, dropped' => function ($i) { $t = Strobe\Trace::start(0); small($i); unset($t); },
	'Strobe\\Trace, exported' => function ($i) { $t = Strobe\Trace::start(); small($i); $p = $t->stop(); return strlen($p->toFolded()) + count($p->getFunctions()); },
	'Strobe\\Sampler, kept' => function ($i) use ($holder) {
		$holder->kept ??= new Strobe\Sampler(0.001);
		$holder->kept->start();
		small($i);
		return $holder->kept->stop();
	},
	'Strobe\\Sampler, new' => function ($i) { $s = new Strobe\Sampler(0.001, $i & 1 ? 'wall' : 'cpu'); $s->start(); small($i); return $s->stop(); },
	'ExcimerProfiler, kept' => function ($i) use ($holder) {
		$holder->kept ??= new ExcimerProfiler;
		$holder->kept->start();
		small($i);
		$holder->kept->stop();
		return $holder->kept->flush();
	},
	'ExcimerProfiler, new' => function ($i) {
		$e = new ExcimerProfiler;
		$e->setPeriod(0.001);
		$e->setEventType($i & 1 ? EXCIMER_REAL : EXCIMER_CPU);
		$e->setFlushCallback(fn($log) => null, 10);
		$e->start();
		small($i);
		$e->stop();
		return $e->getLog();
	},
	'ExcimerTimer' => function ($i) { $t = new ExcimerTimer; $t->setInterval(5); $t->setCallback(fn() => 0); $t->start(); small($i); $t->stop(); },
	'excimer_set_timeout' => function ($i) { $t = excimer_set_timeout(fn() => 0, 5); small($i); unset($t); },
];
$n = (int)$argv[1];
foreach ($cycles as $name => $cycle) {
	for ($i = 0; $i < 2000; $i++)
		$cycle($i);
	gc_collect_cycles();
	status();
	$before = status();
	$start = hrtime(true);
	for ($i = 0; $i < $n; $i++)
		$cycle($i);
	$took = (hrtime(true) - $start) / 1e3 / $n;
	gc_collect_cycles();
	$after = status();
	$holder->kept = null;
	echo json_encode([$name, array_combine(array_keys($before), array_map(fn($a, $b) => $a - $b, $after, $before)), $took]), "\n";
}
PHP;
// A command before it gives it more time, which a busy machine needs.
$run = profile($code, ['under' => ['env'], 'strobe.mode' => 'off', 'strobe.compat' => 'excimer,tideways_xhprof,xhprof,uprofiler', 'xhprof.sampling_interval' => '1000'],
	[in_full() ? '100000' : '20000']);
check($run->status === 0 && $run->stderr === '', "the program ends well: $run->status $run->stderr");
$told = 0;
foreach (explode("\n", trim($run->stdout)) as $line) {
	if (!is_array($row = json_decode($line, true))) {
		check(false, $run->stdout);
		break;
	}
	[$name, $grown, $us] = $row;
	$told++;
	foreach (['threads' => 0, 'descriptors' => 0, 'timers' => 0, 'mappings' => 8, 'php' => 4096] as $what => $most)
		check($grown[$what] <= $most, "$name: $what grew by $grown[$what]");
	// A sanitizer keeps what is freed for a while.
	if (!getenv('LD_PRELOAD'))
		check($grown['rss'] <= 1024, "$name: $grown[rss] kB more are resident");
}
check($told === 17, "$told kinds of cycles");
echo "done\n";
?>
--EXPECT--
done
