--TEST--
A delayed ticker thread loses no ticks: labels, units, requests and profilers that end get all elapsed periods
--EXTENSIONS--
sockets
ffi
--SKIPIF--
<?php
require __DIR__ . '/late_ticker.inc';
if (getenv('STROBE_TEST_UNDER'))
	die('skip the program runs below another one');
if (!HeldTicker::works())
	die('skip no thread can be held here');
?>
--FILE--
<?php
require __DIR__ . '/strobe.inc';
require __DIR__ . '/late_ticker.inc';

/* Runs `$code` while the ticker of its process is held, until samples with the label part=last come, or for 20 seconds: a process whose
 * ticker is held does not end. */
function profile_held(string $code, array $ini = []): Run
{
	$receiver = new Receiver();
	$ticker = new HeldTicker();
	$was_held = false;
	$until = 0;
	$run = profile('<?php ' . BUSY . '
	Strobe\add_label("part", "first");
	Strobe\Unit::run("waits", function () { while (!file_exists($GLOBALS["argv"][1])) usleep(1000); }, [], ["sample" => true]);
	' . $code, $ini, ["$receiver->directory/held"], $receiver, function (Receiver $r, Run $run, int $pid) use ($ticker, &$was_held, &$until) {
		if (!$was_held && $ticker->hold($pid)) {
			$was_held = true;
			$until = microtime(true) + 20;
			touch("$r->directory/held");
		}
		foreach ($r->messages as $m)
			if (($m['labels']['part'] ?? '') === 'last')
				$ticker->release();
		if ($was_held && microtime(true) > $until)
			$ticker->release();
	});
	check($was_held && $run->status === 0 && $run->stderr === '', "held: $run->stdout $run->stderr");
	return $run;
}

/* Samples by a label. */
function sums(Run $run, string $label): array
{
	$sums = [];
	foreach ($run->sampled() as $m)
		$sums[$m['labels'][$label] ?? ''] = ($sums[$m['labels'][$label] ?? ''] ?? 0) + array_sum(array_column($m['stacks'], 1));
	return $sums;
}

foreach (['wall', 'cpu'] as $clock) {
	$run = profile_held('
	function now(): int {
		if ("' . $clock . '" === "wall") return hrtime(true);
		$u = getrusage();
		return 1000 * ($u["ru_utime.tv_usec"] + $u["ru_stime.tv_usec"] + 1000000 * ($u["ru_utime.tv_sec"] + $u["ru_stime.tv_sec"]));
	}
	function turn(float $seconds): void { for ($end = now() + $seconds * 1e9; now() < $end;) busy(0.001); }
	/* The least and the greatest duration. */
	function lasted(string $name, array $from, array $to): void { $GLOBALS["lasted"][$name] = [$to[0] - $from[1], $to[1] - $from[0]]; }
	function mark(callable $change): array { $before = now(); $change(); return [$before, now()]; }

	$one = mark(fn() => Strobe\add_label("part", "one"));
	turn(0.05);
	$two = mark(fn() => Strobe\add_label("part", "two"));
	turn(0.1);
	$around = mark(fn() => Strobe\add_label("part", "around"));
	$begin = mark(function () { global $unit; $unit = Strobe\Unit::begin("job", ["part" => "unit"]); });
	turn(0.05);
	$end = mark(fn() => $unit->end());
	$last = mark(fn() => Strobe\add_label("part", "last"));
	lasted("one", $one, $two);
	lasted("two", $two, $around);
	lasted("unit", $begin, $end);
	turn(0.05);
	lasted("last", $last, [now(), 1e18]);
	echo json_encode($lasted);
	', ['strobe.clock' => $clock]);
	$sums = sums($run, 'part');
	foreach (json_decode($run->stdout, true) as $part => [$least, $most])
		check(($sums[$part] ?? 0) >= $least / 1e6 - 2 && $sums[$part] <= $most / 1e6 + 2, "$clock: $part has " . ($sums[$part] ?? 0) . " samples of $least to $most ns");
}

// A unit in a request that is not sampled; the end of a request, behind the last call.
$run = profile_held('
$unit = Strobe\Unit::begin("job", ["part" => "last"], ["sample" => true]);
$t = hrtime(true); busy(0.05); echo hrtime(true) - $t;
$unit->end();
', ['strobe.request_rate' => '0']);
$samples = sums($run, 'part')['last'] ?? 0;
check($samples >= $run->stdout / 1e6 - 1, "a unit alone: $samples samples of $run->stdout ns");
$run = profile_held('
Strobe\add_label("part", "last");
register_shutdown_function(function () { ob_start(function ($out) { usleep(50000); return $out; }); echo "x"; });
');
check($run->with('busy') === 0 && $run->samples() >= 49, 'behind the last call: ' . json_encode($run->stacks()));

// Profilers that the program stops, and time that is sampled until a session with exact time joins.
$run = profile_held('
function counted(string $what, object $profiler, callable $samples): void {
	$profiler->start();
	$t = hrtime(true); busy(0.05); $t = hrtime(true) - $t;
	$profiler->stop();
	echo "$what ", $samples(), " $t\n";
}
$sampler = new class { public $s, $p; function __construct() { $this->s = new Strobe\Sampler(0.001); } function start() { $this->s->start(); } function stop() { $this->p = $this->s->stop(); } };
counted("Sampler", $sampler, fn() => $sampler->p->getTotals()["samples"]);
$e = new ExcimerProfiler; $e->setEventType(EXCIMER_REAL); $e->setPeriod(0.001);
counted("Excimer", $e, fn() => $e->getLog()->getEventCount());
$trace = Strobe\Trace::start(Strobe\SAMPLED_WALL);
$t = hrtime(true); busy(0.05); $t = hrtime(true) - $t;
Strobe\Trace::start(Strobe\WALL);
echo "Trace ", $trace->stop()->getTotals()["wall_ns"] / 1e6, " $t\n";
$outer = Strobe\Trace::start(Strobe\SAMPLED_WALL);
busy(0.05);
$t = hrtime(true); $inner = Strobe\Trace::start(Strobe\SAMPLED_WALL)->stop(); $t = hrtime(true) - $t;
echo "Inner ", $inner->getTotals()["wall_ns"] / 1e6, " $t\n";
unset($outer);
Strobe\add_label("part", "last"); busy(0.01);
', ['strobe.instrument' => '1', 'strobe.compat' => 'excimer']);
check(count(explode("\n", $run->stdout)) === 5, $run->stdout);
foreach (explode("\n", trim($run->stdout)) as $line) {
	[$what, $samples, $ns] = explode(' ', $line);
	// The inner trace is shorter than the time measured around it, by as much as the process waited for a processor there.
	if ($what === 'Inner')
		check($samples <= $ns / 1e6 + 1, "a trace has no time from before: $samples ms of $ns ns");
	else
		check($samples >= $ns / 1e6 - 1, "$what: $samples samples of $ns ns");
}
echo "done\n";
?>
--EXPECT--
done
