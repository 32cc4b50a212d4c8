--TEST--
Exact counts with sampled time: all calls are counted, time is attributed where it was spent, and no call reads a clock
--INI--
strobe.instrument=1
--FILE--
<?php
require __DIR__ . '/tracer.inc';

function spin(float $seconds): int { $n = 0; for ($end = microtime(true) + $seconds; microtime(true) < $end; $n++) strrev('x'); return $n; }
function long() { return spin(0.6); }
function short() { return spin(0.2); }

$wall = hrtime(true);
$trace = Strobe\Trace::start(Strobe\SAMPLED_WALL);
$calls = long() + short();
$profile = $trace->stop();
$wall = hrtime(true) - $wall;
check($profile->getDuration() * 1e9 <= $wall + 1e6, 'it lasted no longer than it did');
$wall = $profile->getDuration() * 1e9;
$f = array_column($profile->getFunctions(), null, 'name');
check($f['strrev']['calls'] === $calls, "strrev: {$f['strrev']['calls']} of $calls calls");
check($f['spin']['calls'] === 2, 'spin is called twice');
$total = $profile->getTotals()['wall_ns'];
/* Each tick stands for 1 ms; the last one may be missing. Valgrind runs one thread at a time, and the ticker's turn comes late. */
$late = str_contains(file_get_contents('/proc/self/maps'), 'valgrind') ? 0.3 : 0.1;
check(abs($total - $wall) < 20e6 + $wall * $late, "$total ns of $wall are accounted for");
$share = $f['long']['inclusive']['wall_ns'] / max(1, $total);
check($share > 0.6 && $share < 0.9, "long has $share of the time");

/* A session that wants exact time joins: both have it from then on, and what was sampled stays. */
$wall = hrtime(true);
$trace = Strobe\Trace::start(Strobe\SAMPLED_WALL);
spin(0.2);
$exact = Strobe\Trace::start(Strobe\WALL);
spin(0.2);
$profiles = [[$exact->stop(), 0.2], [$trace->stop(), 0.4]];
$wall = hrtime(true) - $wall;
foreach ($profiles as [$p, $seconds]) {
	$ns = $p->getTotals()['wall_ns'];
	check($ns > $seconds * 0.8e9 && $ns <= $wall, "$ns ns of $seconds s, in all $wall");
}
echo "done\n";
?>
--EXPECT--
done
