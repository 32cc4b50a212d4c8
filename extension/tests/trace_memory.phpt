--TEST--
A trace adds almost nothing to memory_limit, even for programs that create and free large closures
--EXTENSIONS--
sockets
--SKIPIF--
<?php
if (getenv('USE_ZEND_ALLOC') === '0')
	die('skip memory_limit is enforced by the Zend allocator');
?>
--FILE--
<?php
require __DIR__ . '/strobe.inc';

$program = '<?php $body = str_repeat(\'$a = $b + 1; $c = $a * 2; \', 500);
for ($i = 0; $i < 1000; $i++) { $f = eval("return function (\$b) { $body return \$c; };"); $sum = $f($i); unset($f); }
echo $sum, " ", memory_get_peak_usage() < 6 << 20 ? "small" : memory_get_peak_usage();';
$run = profile($program, ['strobe.mode' => 'off', 'strobe.trace_rate' => '1', 'memory_limit' => '16M']);
check($run->status === 0 && $run->stdout === '2000 small', "$run->status $run->stdout $run->stderr");
$calls = 0;
foreach (run_calls($run->runs()[0]) as $name => $n)
	$calls += str_contains($name, '{closure') ? $n : 0;
check($calls === 1000, "$calls calls of closures are in the trace");
echo "done\n";
?>
--EXPECT--
done
