--TEST--
A trace is announced when it begins and sent while it runs, so that it survives when the process is killed
--EXTENSIONS--
sockets
posix
--FILE--
<?php
require __DIR__ . '/strobe.inc';

$traced = ['strobe.mode' => 'off', 'strobe.trace_rate' => '1'];
$ids = fn(array $messages) => array_map(fn($m) => $m['labels']['id'], $messages);

// Its announcement has the id of the run, and nothing else is told before the end.
$run = profile('<?php strlen(str_repeat("x", 9)); usleep(400000);', $traced);
check(count($run->open) === 1 && count($run->messages) === 1, count($run->open) . ' announced, ' . count($run->messages) . ' came');
check($ids($run->open) === $ids($run->messages) && $run->open[0]['nodes'] === [], 'the same id: ' . json_encode($run->open));
check($run->connections === 1, "$run->connections connection");

// One that is not kept, and one that is discarded, is taken back.
foreach (['' => ['strobe.trace_keep' => 'slow:1000s'], 'Strobe\discard_trace();' => []] as $code => $ini) {
	$run = profile("<?php strrev('x'); $code", $ini + $traced);
	check(count($run->messages) === 0 && count($run->open) === 2, count($run->open) . " messages of a trace that is not kept: $code");
	check(count(array_unique($ids($run->open))) === 1 && isset($run->open[1]['labels']['discarded']), 'it is taken back');
}

// A process that is killed in the middle of a loop, of functions or of none.
$loops = ['function inner() { return strrev(str_repeat("x", 9)); } function outer() { while (true) inner(); } outer();',
	'function outer() { for ($i = 0; ; $i++); } outer();'];
foreach ($loops as $i => $loop) {
	if ($i && (PHP_VERSION_ID >= 80500 || isset((json_decode(getenv('STROBE_TEST_INI') ?: '[]', true))['opcache.jit'])))
		continue;	// without calls there is no place where it may be looked at
	$run = profile("<?php $loop", ['strobe.trace_flush' => '0.02'] + $traced, meanwhile: function ($receiver, $run, $pid) {
		if (count($receiver->open) >= 5)
			posix_kill($pid, 9);
	});
	check($run->status === 137 && $run->messages === [], "it is killed, with status $run->status");
	check(count(array_unique($ids($run->open))) === 1, 'all are of one run');
	$handed = array_values(array_filter($run->open, fn($m) => $m['nodes'] !== []));
	check(count($handed) >= 4, count($handed) . ' hand-overs');
	$last = 0;
	foreach ($handed as $m) {
		$main = run_tree($m)['main()'];
		check($main['wall_ns'] > $last && $main['wall_ns'] <= $m['end'] - $m['start'] + 1e6, "main() grows: {$main['wall_ns']} after $last");
		check(run_calls($m)['outer'] === 1, 'a call that runs is one call');
		check($i || run_calls($m)['str_repeat'] - run_calls($m)['strrev'] <= 1, 'callees are counted as they are');
		$last = $main['wall_ns'];
	}
}

// Hand-overs are no part of the run: its values and calls are those of a trace without them.
$program = '<?php
function leaf($n) { return $n ? leaf($n - 1) : strlen("x"); }
function gen() { for ($i = 0; $i < 50; $i++) { leaf($i % 20); yield $i; } }
function work() { foreach (gen() as $v) { $f = new Fiber(function () use ($v) { leaf(3); Fiber::suspend($v); leaf(4); }); $f->start(); leaf(5); $f->resume(); } }
for ($end = microtime(true) + 60, $n = 0; $n < 40 || !file_exists("ENOUGH") && microtime(true) < $end; $n++) work();
echo $n;';
$enough = sys_get_temp_dir() . '/strobe-enough-' . getmypid();
$run = profile(str_replace('ENOUGH', $enough, $program), ['strobe.trace_flush' => '0.01'] + $traced, meanwhile: function ($receiver) use ($enough) {
	if (count($receiver->open) >= 4)
		touch($enough);
});
@unlink($enough);
$n = (int)$run->stdout;
$handed = array_filter($run->open, fn($m) => $m['nodes'] !== []);
$calls = run_calls($run->messages[0]);
check(count($handed) >= 2, count($handed) . ' hand-overs');
$leaves = 50 * (4 + 5 + 6);
for ($i = 0; $i < 50; $i++)
	$leaves += $i % 20 + 1;
check($calls['work'] === $n && $calls['leaf'] === $n * $leaves, "{$calls['leaf']} calls of $n times $leaves");
foreach (run_tree($run->messages[0]) as $path => $v)
	check($v['wall_ns'] >= 0 && $v['cpu_ns'] >= 0, "$path: " . json_encode($v));
echo "done\n";
?>
--EXPECT--
done
