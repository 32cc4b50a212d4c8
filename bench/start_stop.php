<?php
/* Starts and stops a profiler over and over, in the way $argv[1], for $argv[2] times, and prints as JSON the
 * nanoseconds of each start and stop (making a result, and what happens in between, does not count) in batches of 50.
 */
$kept = null;
$ways = [
	'excimer, new' => [function () { $e = new ExcimerProfiler; $e->setEventType(EXCIMER_REAL); $e->setPeriod(0.01); $e->start(); return $e; },
		function ($e) { $e->stop(); }],
	'excimer, kept' => [function () use (&$kept) { $kept ??= new ExcimerProfiler; $kept->start(); return $kept; }, fn($e) => $e->stop()],
	'timer' => [function () { $t = new ExcimerTimer; $t->setInterval(5); $t->setCallback(fn() => 0); $t->start(); return $t; },
		function ($t) { $t->stop(); }],
	'sampler, new' => [function () { $s = new Strobe\Sampler(); $s->start(); return $s; }, fn($s) => $s->stop()],
	'sampler, kept' => [function () use (&$kept) { $kept ??= new Strobe\Sampler(); $kept->start(); return $kept; }, fn($s) => $s->stop()],
	'trace' => [fn() => Strobe\Trace::start(), fn($t) => $t->stop()],
	'tideways' => [fn() => tideways_xhprof_enable(), fn() => tideways_xhprof_disable()],
];
[$start, $stop] = $ways[$argv[1]];
for ($i = 0; $i < 100; $i++)
	$stop($start());
$taken = [];
for ($batch = 0; $batch < (int)$argv[2] / 50; $batch++) {
	$before = hrtime(true);
	for ($i = 0; $i < 50; $i++) {
		$e = $start();
		$stop($e);
		unset($e);
	}
	$taken[] = (hrtime(true) - $before) / 50;
}
echo json_encode($taken);
