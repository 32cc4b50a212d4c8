--TEST--
xhprof: recursion of any depth is traced and exported in linear time
--INI--
strobe.compat=xhprof,tideways_xhprof
memory_limit=1G
--FILE--
<?php
require __DIR__ . '/edges.inc';
function direct($n) { if ($n) direct($n - 1); }
function ping($n) { if ($n) pong($n - 1); }
function pong($n) { if ($n) ping($n - 1); }

xhprof_enable();
direct(200000);
$r = xhprof_disable();
check_edges($r);
echo count($r), ' ', $r['direct@199999==>direct@200000']['ct'], ' ', $r['direct==>direct@1']['ct'], "\n";
for ($i = 1; $i < 200000; $i += 4999)
	if ($r["direct@$i==>direct@" . ($i + 1)]['ct'] !== 1 || $r["direct@$i==>direct@" . ($i + 1)]['wt'] > $r['main()==>direct']['wt'])
		echo "level $i\n";
unset($r);

tideways_xhprof_enable();
ping(100001);
$r = tideways_xhprof_disable();
echo count($r), ' ', $r['ping@50000==>pong@50000']['ct'], ' ', $r['pong@49999==>ping@50000']['ct'], ' ', $r['pong==>ping@1']['ct'], "\n";

/* CPU seconds of trace and export. */
function cost(int $depth): float
{
	$best = INF;
	for ($i = 0; $i < 2; $i++) {
		$t = getrusage();
		xhprof_enable();
		direct($depth);
		xhprof_disable();
		$u = getrusage();
		$best = min($best, ($u['ru_utime.tv_sec'] - $t['ru_utime.tv_sec']) + ($u['ru_utime.tv_usec'] - $t['ru_utime.tv_usec']) / 1e6);
	}
	return $best;
}
// Three times the depth: if any step looked through the stack, that would be ten thousand million looks, which take many seconds. Without them
// the time may still grow faster than the depth, as less and less of it fits in the processor's caches.
$a = cost(50000);
$b = cost(150000);
if ($b > 6 * $a + 1)
	echo "50000 deep: $a s, 150000 deep: $b s\n";
?>
--EXPECT--
200003 1 1
100004 1 1 1
