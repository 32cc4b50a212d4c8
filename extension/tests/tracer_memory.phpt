--TEST--
Memory, peak memory and allocations include those of a call's callees
--INI--
strobe.instrument=1
--SKIPIF--
<?php
if (getenv('USE_ZEND_ALLOC') === '0')
	die("skip PHP's allocator is switched off");
?>
--FILE--
<?php
require __DIR__ . '/tracer.inc';

function keep() { $GLOBALS['kept'] = str_repeat('k', 300000); }
function drop() { $s = str_repeat('d', 2000000); unset($s); return 1; }
/* Local variables are freed when the function is over, which counts as the caller's. */
function locals() { $s = str_repeat('l', 200000); return ord($s[mt_rand(0, 9)]); }
function calls_locals() { locals(); return 1; }
function many() { for ($i = 0; $i < 1000; $i++) $a[] = strrev("text $i"); }
function release() { $GLOBALS['kept'] = null; }

$metrics = Strobe\WALL | Strobe\MEMORY | Strobe\PEAK_MEMORY | Strobe\ALLOCATIONS;
foreach ([$metrics, $metrics | Strobe\CPU] as $m) {
	$before = memory_get_usage();
	memory_reset_peak_usage();
	$trace = Strobe\Trace::start($m);
	keep();
	drop();
	many();
	calls_locals();
	release();
	$profile = $trace->stop();
	$f = array_column($profile->getFunctions(), null, 'name');
	$in = fn(string $name) => $f[$name]['inclusive'];
	check(abs($in('keep')['memory_bytes'] - 300000) < 10000, 'keep: ' . json_encode($in('keep')));
	check(abs($in('drop')['memory_bytes']) < 1000, 'drop gives all back: ' . json_encode($in('drop')));
	check(abs($in('drop')['peak_memory_bytes'] - 2000000) < 300000, 'but had a peak: ' . json_encode($in('drop')));
	check(abs($in('release')['memory_bytes'] + 300000) < 10000, 'release: ' . json_encode($in('release')));
	check($in('many')['allocations'] >= 2000 && $in('many')['allocations'] < 3200, 'many: ' . json_encode($in('many')));
	check($in('many')['frees'] >= 1000 && $in('many')['frees'] < 2200, 'many frees texts: ' . json_encode($in('many')));
	check(abs($in('locals')['memory_bytes'] - 200000) < 10000, 'locals: ' . json_encode($in('locals')));
	check(abs($in('calls_locals')['memory_bytes']) < 1000, 'calls_locals: ' . json_encode($in('calls_locals')));
	check($in('keep')['allocated_bytes'] >= 300000 && $in('keep')['allocated_bytes'] < 310000, 'keep: ' . json_encode($in('keep')));
	check($in('keep')['allocations'] === 1 && $in('release')['frees'] === 1, 'one each: ' . json_encode($f));
	unset($f, $profile, $in, $trace);
}
/* Without counts of allocations, alone and beside other metrics, memory is what PHP says itself. */
function steps() { $kept = []; for ($i = 1; $i < 6; $i++) { $kept[] = one($i); two($i); } return count($kept); }
function one(int $i) { $GLOBALS['grown'] -= memory_get_usage(); $s = str_repeat('o', $i * 10000); $GLOBALS['grown'] += memory_get_usage(); return $s; }
function two(int $i) { return strlen(str_repeat('t', $i * 100000)); }
foreach ([Strobe\MEMORY, Strobe\PEAK_MEMORY, Strobe\WALL | Strobe\MEMORY | Strobe\PEAK_MEMORY, Strobe\CPU | Strobe\MEMORY,
	  Strobe\WALL | Strobe\CPU | Strobe\MEMORY | Strobe\PEAK_MEMORY] as $m) {
	$grown = 0;
	memory_reset_peak_usage();
	$peak = -memory_get_peak_usage();
	$trace = Strobe\Trace::start($m);
	steps();
	$profile = $trace->stop();
	$peak += memory_get_peak_usage();
	$f = array_column($profile->getFunctions(), null, 'name');
	check($f['one']['calls'] === 5, "metrics $m: calls");
	if ($m & Strobe\MEMORY) {
		check($grown > 150000 && abs($f['one']['inclusive']['memory_bytes'] - $grown) < 2000, "metrics $m: $grown, " . json_encode($f['one']));
		check(abs($f['two']['inclusive']['memory_bytes']) < 1000, "metrics $m: " . json_encode($f['two']));
	}
	if ($m & Strobe\PEAK_MEMORY)
		check($peak > 500000 && abs($f['steps']['inclusive']['peak_memory_bytes'] - $peak) < 50000, "metrics $m: $peak, " . json_encode($f['steps']));
	unset($f, $profile, $trace);
}
/* The allocator is as it was. */
$before = memory_get_usage();
$x = str_repeat('x', 500000);
check(memory_get_usage() - $before >= 500000, 'memory is counted as ever');

/* The tracer's memory is not the program's memory. */
$trace = Strobe\Trace::start();
$before = memory_get_usage();
function deep(int $n): int { return $n ? deep($n - 1) : 0; }
deep(1000);
$grown = memory_get_usage() - $before;
check($grown < 600000, "a thousand nodes later memory_get_usage has grown by $grown: the VM's own stack at most");
echo "done\n";
?>
--EXPECT--
done
