--TEST--
Wall time is elapsed time, CPU time is that of the thread, off-CPU time is the difference, and sums are correct
--INI--
strobe.instrument=1
--FILE--
<?php
require __DIR__ . '/tracer.inc';

function cpu_ms(): float
{
	$r = getrusage();
	return ($r['ru_utime.tv_sec'] + $r['ru_stime.tv_sec']) * 1e3 + ($r['ru_utime.tv_usec'] + $r['ru_stime.tv_usec']) / 1e3;
}
function busy() { for ($i = 0; $i < 20000; $i++) abs($i); }
function idle() { usleep(2000); }

$cpu = cpu_ms();
$wall = hrtime(true);
$trace = Strobe\Trace::start(Strobe\WALL | Strobe\CPU);
$inside = hrtime(true);
for ($i = 0; $i < 100; $i++) {
	busy();
	idle();
}
$inside = (hrtime(true) - $inside) / 1e6;
$profile = $trace->stop();
$wall = (hrtime(true) - $wall) / 1e6;
$cpu = cpu_ms() - $cpu;
$totals = $profile->getTotals();
check($totals['wall_ns'] / 1e6 > $inside * 0.999 - 0.1 && $totals['wall_ns'] / 1e6 < $wall * 1.001 + 0.1, "$totals[wall_ns] ns of wall time, hrtime says $inside to $wall ms");
/* getrusage may count by ticks of some ms. */
check(abs($totals['cpu_ns'] / 1e6 - $cpu) < 10 + $cpu * 0.05, "$totals[cpu_ns] ns of CPU time, getrusage says $cpu ms");
check($totals['off_cpu_ns'] === $totals['wall_ns'] - $totals['cpu_ns'], 'off the CPU is what is left');

$f = array_column($profile->getFunctions(), null, 'name');
check($f['idle']['inclusive']['wall_ns'] >= 200e6, 'idle took at least what it slept');
check($f['idle']['inclusive']['off_cpu_ns'] > $f['idle']['inclusive']['wall_ns'] * 0.8, 'and was off the CPU: ' . json_encode($f['idle']));
check($f['busy']['inclusive']['cpu_ns'] > $f['idle']['inclusive']['cpu_ns'], 'busy was on it');
foreach ($profile->getFunctions() as $function)
	foreach (['inclusive', 'exclusive'] as $kind)
		check($function[$kind]['cpu_ns'] >= 0 && $function[$kind]['off_cpu_ns'] >= 0, "$kind: " . json_encode($function));
foreach (['wall_ns', 'cpu_ns'] as $metric) {
	$self = array_sum(array_column(array_column($profile->getFunctions(), 'exclusive'), $metric));
	check(abs($self - $totals[$metric]) <= 0.001 * $totals[$metric] + 1000, "$metric: the parts make $self of $totals[$metric]");
}

/* Both clocks are told in whole nanoseconds, which must not make one of them pass the other. */
$code = '';
for ($i = 0; $i < 500; $i++)
	$code .= "function many_$i() { for (\$i = 0; \$i < " . $i % 7 . '; $i++) strrev("x"); ' . ($i ? 'many_' . $i - 1 . '(); ' : '') . '} ';
eval($code);
$trace = Strobe\Trace::start(Strobe\WALL | Strobe\CPU);
for ($i = 0; $i < 500; $i++)
	"many_$i"();
$below = array_filter($trace->stop()->getFunctions(), fn($f) => $f['exclusive']['off_cpu_ns'] < 0);
check(!$below, count($below) . ' functions were off the CPU for less than nothing: ' . json_encode(array_slice($below, 0, 3)));

/* In a child CPU time goes on from where it was. */
if (function_exists('pcntl_fork')) {
	$trace = Strobe\Trace::start(Strobe\WALL | Strobe\CPU);
	busy();
	$pid = pcntl_fork();
	if ($pid === 0) {
		busy();
		$p = $trace->stop();
		$f = array_column($p->getFunctions(), null, 'name');
		$t = $p->getTotals();
		check($t['cpu_ns'] >= $f['busy']['inclusive']['cpu_ns'] && $t['off_cpu_ns'] >= 0, 'in the child: ' . json_encode([$t, $f['busy']]));
		exit(0);
	}
	pcntl_waitpid($pid, $status);
	unset($trace);
}
echo "done\n";
?>
--EXPECT--
done
