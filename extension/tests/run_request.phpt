--TEST--
A traced request is one run: the tree with all values, exact call counts, labels of the request and a random id
--EXTENSIONS--
sockets
--FILE--
<?php
require __DIR__ . '/strobe.inc';

$ini = ['strobe.mode' => 'off', 'strobe.trace_rate' => '1', 'strobe.labels' => 'pool=api,deploy=7'];
$program = '<?php
function work($n) { return $n ? work($n - 1) + strlen(str_repeat("x", 10)) : 0; }
class Shop { static function price() { usleep(20000); return work(2); } function __destruct() { hash("sha256", "x"); } }
$shop = new Shop;
register_shutdown_function(function () { abs(-1); });
for ($i = 0; $i < 3; $i++)
	Shop::price();
Strobe\add_label("tenant", "blue");
echo json_encode([Strobe\is_tracing(), getmypid()]);
';
$before = microtime(true);
$run = profile($program, $ini);
$after = microtime(true);
check($run->status === 0 && $run->stderr === '', "the program runs: $run->stdout $run->stderr");
check(count($run->messages) === 1 && count($run->runs()) === 1, count($run->messages) . ' messages');
$m = $run->runs()[0];
[$tracing, $pid] = json_decode($run->stdout);
check($tracing && $m['pid'] === $pid, 'it knows that it is traced, and the run has its pid');
check($m['clock'] === 0 && $m['period'] === 0, 'nothing was sampled');
check($m['start'] / 1e9 >= $before - 0.01 && $m['end'] / 1e9 <= $after + 0.01 && $m['end'] - $m['start'] > 60e6, 'times');
check($m['columns'] === [['calls', 'count'], ['wall_ns', 'nanoseconds'], ['cpu_ns', 'nanoseconds'], ['memory_bytes', 'bytes'],
	['peak_memory_bytes', 'bytes'], ['off_cpu_ns', 'nanoseconds']], json_encode($m['columns']));
$labels = $m['labels'];
check(preg_match('/^[0-9a-f]{32}$/', $labels['id']) === 1, "id $labels[id]");
unset($labels['id']);
ksort($labels);
check($labels === ['deploy' => '7', 'entry' => 'script', 'host' => gethostname(), 'pool' => 'api', 'sapi' => 'cli', 'source' => 'sampled',
	'tenant' => 'blue'], json_encode($labels));

$tree = run_tree($m);
$script = array_values(array_filter($m['frames'], fn($f) => $f['name'][0] === '/'))[0]['name'];
$price = "main();$script;Shop::price";
check(($tree[$price]['calls'] ?? 0) === 3 && $tree["$price;usleep"]['calls'] === 3, 'three prices: ' . json_encode($tree[$price] ?? array_keys($tree)));
check($tree["$price;work"]['calls'] === 3 && $tree["$price;work;work"]['calls'] === 3 && $tree["$price;work;work;work"]['calls'] === 3, 'recursion is a path');
check($tree["$price;usleep"]['wall_ns'] >= 60e6 && $tree["$price;usleep"]['wall_ns'] < 2e9, 'it slept: ' . $tree["$price;usleep"]['wall_ns']);
check($tree["$price;usleep"]['off_cpu_ns'] > 50e6 && $tree["$price;usleep"]['cpu_ns'] < 10e6, 'and took no CPU time meanwhile');
check($tree[$price]['wall_ns'] >= $tree["$price;usleep"]['wall_ns'] + $tree["$price;work"]['wall_ns'], 'a caller contains what it calls');
check(abs($tree['main()']['wall_ns'] - ($m['end'] - $m['start'])) < 100e6, 'main() holds everything');
foreach ($m['nodes'] as $n)
	check($n['self']['off_cpu_ns'] === $n['self']['wall_ns'] - $n['self']['cpu_ns'], "off the CPU in $n[name]");
$calls = run_calls($m);
check($calls['abs'] === 1 && $calls['hash'] === 1, 'shutdown functions and destructors belong to it');
$frames = array_column($m['frames'], null, 'name');
check($frames['work']['line'] === 2 && str_ends_with($frames['work']['file'], 'script.php') && $frames['usleep'] === ['name' => 'usleep', 'file' => '', 'line' => 0], 'where functions are');

// A rate of 0, and none given; one half.
check(!profile($program, ['strobe.trace_rate' => '0', 'strobe.instrument' => '1'] + $ini)->messages, 'at a rate of 0 there is no run');
$half = '<?php mt_srand(7); echo mt_rand();';
$sent = $numbers = [];
[$all, $few] = in_full() ? [40, 4] : [20, 0];
for ($i = 0; $i < $all; $i++) {
	$r = profile($half, ['strobe.trace_rate' => '0.5'] + $ini);
	$sent[] = count($r->messages);
	$numbers[] = $r->stdout;
}
check(array_sum($sent) > $few && array_sum($sent) < $all - $few, array_sum($sent) . " of $all at a rate of one half");
mt_srand(7);
check(array_unique($numbers) === [(string)mt_rand()], 'mt_rand is not touched');

// strobe.labels may name the source; what identifies a run cannot be set there.
$m = profile('<?php echo 1;', ['strobe.labels' => 'source=cli-run,id=mine,url=/x,name=n,a=b'] + $ini)->runs()[0];
check($m['labels']['source'] === 'cli-run' && $m['labels']['id'] !== 'mine' && !isset($m['labels']['url']) && !isset($m['labels']['name']) && $m['labels']['a'] === 'b', json_encode($m['labels']));
$m = profile('<?php echo 1;', ['strobe.labels' => 'source=not a source'] + $ini)->runs()[0];
check($m['labels']['source'] === 'sampled', json_encode($m['labels']));
$m = profile('<?php echo 1;', ['strobe.labels' => 'source=..'] + $ini)->runs()[0];
check($m['labels']['source'] === 'sampled', json_encode($m['labels']));

// Samples and a run of the same request.
$run = profile('<?php ' . BUSY . ' Strobe\add_label("phase", "two"); busy(0.1); var_dump(Strobe\is_sampling());', ['strobe.mode' => 'sample'] + $ini);
check(count($run->runs()) === 1 && count($run->sampled()) >= 1 && trim($run->stdout) === 'bool(true)', 'both: ' . $run->stdout);
// The first sample may have been taken before the label was set.
$last = array_reverse($run->sampled())[0]['labels'];
check(($last['phase'] ?? '') === 'two', 'samples have the label of the program: ' . json_encode($last));

// However it ends.
$ends = ['exit(3);' => 3, 'throw new Exception("x");' => 255, 'ini_set("memory_limit", "20M"); $a = str_repeat("x", 1 << 26);' => 255, 'undefined();' => 255];
if (getenv('USE_ZEND_ALLOC') === '0')
	array_splice($ends, 2, 1);	// the limit is the Zend allocator's
foreach ($ends as $end => $status) {
	$run = profile("<?php function last() { $end } last();", $ini);
	check($run->status === $status && count($run->runs()) === 1 && (run_calls($run->runs()[0])['last'] ?? 0) === 1, "after $end status $run->status and " . count($run->runs()) . ' runs');
}
echo "done\n";
?>
--EXPECT--
done
