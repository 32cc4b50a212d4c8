--TEST--
Functions in a fiber are below the function that resumed it, and a suspended fiber accumulates no time
--INI--
strobe.instrument=1
--FILE--
<?php
require __DIR__ . '/tracer.inc';

function inner() { before(); Fiber::suspend(1); between(); Fiber::suspend(2); }
function before() { usleep(2000); }
function between() { usleep(2000); }
function after() { usleep(30000); }

function traced(string $what, callable $prepare, callable $f, array $expected): Strobe\Profile
{
	$prepared = $prepare();
	$trace = Strobe\Trace::start(Strobe\WALL | Strobe\CPU, ['internals' => true]);
	$f($prepared);
	$profile = $trace->stop();
	$got = [];
	foreach (paths($profile, 'calls') as $path => $calls)
		if (str_starts_with($path, '{closure};'))
			$got[str_replace(';{closure}', ';body', substr($path, strlen('{closure};')))] = $calls;
	check_calls($what, array_filter($got, fn($path) => !str_contains($path, 'usleep'), ARRAY_FILTER_USE_KEY), $expected);
	return $profile;
}

$body = function () { inner(); return 5; };
$profile = traced('two suspensions', fn() => new Fiber($body), function ($f) {
	$f->start(); after(); $f->resume(); after(); $f->resume();
}, ['Fiber::start' => 1, 'Fiber::start;body' => 1, 'Fiber::start;body;inner' => 1, 'Fiber::start;body;inner;before' => 1,
	'Fiber::start;body;inner;Fiber::suspend' => 1, 'after' => 2, 'Fiber::resume' => 2,
	'Fiber::resume;body;inner;between' => 1, 'Fiber::resume;body;inner;Fiber::suspend' => 1]);
$functions = array_column($profile->getFunctions(), null, 'name');
$total = $profile->getTotals()['wall_ns'];
$inner = $functions['inner']['inclusive']['wall_ns'];
$after = $functions['after']['inclusive']['wall_ns'];
check($inner >= 4000000, "inner took $inner ns");
check($functions['after']['calls'] === 2 && $after >= 60000000, "after: {$functions['after']['calls']} calls, $after ns");
check($inner + $after <= $total, "inner took $inner ns, after $after of $total, so it has what passed while it was suspended");
check(array_sum(paths($profile, 'wall_ns')) <= $total, 'what the parts took is not more than the whole');

/* A trace that is started in a fiber goes on outside. */
$fiber = new Fiber(function () { inner(); $trace = Strobe\Trace::start(Strobe\COUNTS); between(); Fiber::suspend($trace); between(); });
$fiber->start();
$fiber->resume();
$trace = $fiber->resume();
after();
$fiber->resume();
after();
$got = array_filter(paths($trace->stop(), 'calls'), fn($path) => !str_contains($path, 'usleep'), ARRAY_FILTER_USE_KEY);
check_calls('started in a fiber', $got, ['between' => 1, 'Fiber::suspend' => 1, 'after' => 2, 'Fiber::resume' => 1,
	'Fiber::resume;between' => 1]);

/* A suspended fiber is destroyed: its finally block runs below whoever did that. */
$trace = Strobe\Trace::start(Strobe\COUNTS);
$fiber = new Fiber(function () { try { Fiber::suspend(); } finally { between(); } });
$fiber->start();
$fiber = null;
after();
$got = paths($trace->stop(), 'calls');
check(($got['{closure};between'] ?? 0) === 1, 'finally ran: ' . json_encode($got));
check(($got['after'] ?? 0) === 1, 'and then what follows: ' . json_encode($got));

/* Fibers in fibers, switched crosswise, many of them. */
$trace = Strobe\Trace::start(Strobe\COUNTS);
$fibers = [];
for ($i = 0; $i < 50; $i++) {
	$fibers[] = $f = new Fiber(function () use ($i) {
		$g = new Fiber(function () { strrev('a'); Fiber::suspend(); strrev('b'); });
		$g->start();
		Fiber::suspend();
		$g->resume();
		ucfirst('c');
	});
	$f->start();
}
foreach (array_reverse($fibers) as $f)
	$f->resume();
$sums = [];
foreach (paths($trace->stop(), 'calls') as $path => $calls)
	$sums[substr($path, (int)strrpos(";$path", ';'))] = ($sums[substr($path, (int)strrpos(";$path", ';'))] ?? 0) + $calls;
check($sums['strrev'] === 100 && $sums['ucfirst'] === 50 && $sums['Fiber::resume'] === 100, json_encode($sums));
echo "done\n";
?>
--EXPECT--
done
