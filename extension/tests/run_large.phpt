--TEST--
Runs of any size: deep recursion, a hundred thousand nodes by memfd, the node limit; runs above 64 MB are counted as lost
--EXTENSIONS--
sockets
--INI--
memory_limit=-1
--FILE--
<?php
require __DIR__ . '/strobe.inc';

$ini = ['strobe.mode' => 'off', 'strobe.trace_rate' => '1', 'memory_limit' => '-1', 'strobe.trace_max_nodes' => '4000000'];

$run = profile('<?php function deep($n) { return $n ? deep($n - 1) : strlen(str_repeat("x", 3)); } deep(30000); echo "fine";', $ini);
check($run->stdout === 'fine' && count($run->runs()) === 1, 'a recursion of 30,000: ' . $run->stdout . $run->stderr);
$m = $run->runs()[0];
check($m['size'] > 131072 && count($m['nodes']) > 30000 && run_calls($m)['deep'] === 30001, "$m[size] bytes by memfd");

$wide = 'function w($n, $i) { if ($n) for ($k = 0; $k < 10; $k++) ("w$k")($n - 1, $k); }
for ($k = 0; $k < 10; $k++)
	eval("function w$k(\$n, \$i) { w(\$n, \$i); }");
';
$run = profile("<?php $wide w(4, 0); echo 'fine';", $ini);
$m = $run->runs()[0] ?? null;
check($run->stdout === 'fine' && $m && count($m['nodes']) > 22000 && run_calls($m)['w'] === 11111, 'a wide tree: ' . ($m ? count($m['nodes']) : $run->stdout . $run->stderr));
check(!isset(run_calls($m)['[folded]'], $m['labels']['folded_calls']), 'nothing is folded');

$run = profile("<?php $wide w(4, 0); echo 'fine';", ['strobe.trace_max_nodes' => '2000', 'log_errors' => '1'] + $ini);
$m = $run->runs()[0] ?? null;
check($m && count($m['nodes']) <= 2100 && run_calls($m)['[folded]'] > 5 && (int)$m['labels']['folded_calls'] === 22221 - array_sum(array_filter(run_calls($m), fn($name) => $name[0] === 'w', ARRAY_FILTER_USE_KEY)), 'the budget folds the rest, visibly: ' . ($m ? json_encode([run_calls($m), $m['labels']]) : $run->stdout . $run->stderr));
check($run->stdout === 'fine' && preg_match_all('/strobe: \d+ calls exceeded the trace\'s limit/', $run->stderr) === 1, "the error log says so, once: $run->stdout$run->stderr");
check($m && abs(run_tree($m)['main()']['wall_ns'] - ($m['end'] - $m['start'])) < 50e6, 'and time is not lost');

// Names that are long make a message above the cap.
$run = profile('<?php
for ($i = 0; $i < 1100; $i++) {
	$name = "f{$i}_" . str_repeat(chr(97 + $i % 26), 65000);
	eval("function $name() {} $name();");
}
register_shutdown_function(function () {
	$t = Strobe\Trace::start(Strobe\COUNTS);
	echo strlen($t->stop()->save("small"));
});
', $ini);
check($run->stdout === '32' && $run->status === 0, "too large: $run->stdout$run->stderr");
check(count($run->runs()) === 1 && $run->runs()[0]['labels']['source'] === 'small', 'it is not sent');
$run = profile('<?php
$t = Strobe\Trace::start(Strobe\COUNTS);
for ($i = 0; $i < 1100; $i++) {
	$name = "f{$i}_" . str_repeat(chr(97 + $i % 26), 65000);
	eval("function $name() {} $name();");
}
$p = $t->stop();
try {
	$p->save("large");
} catch (Strobe\Exception $e) {
	echo $e->getMessage(), "\n";
}
$t = Strobe\Trace::start(Strobe\COUNTS);
$t->stop()->save("small");
', ['strobe.trace_rate' => '0', 'strobe.instrument' => '1'] + $ini);
check($run->stdout === "The run cannot be delivered: it is larger than the 64 MB that a run may have\n", $run->stdout . $run->stderr);
check(array_column($run->runs(), 'drops') === [[3 => 1]], 'the next one tells of it: ' . json_encode(array_column($run->runs(), 'drops')));
echo "done\n";
?>
--EXPECT--
done
