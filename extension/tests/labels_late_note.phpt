--TEST--
Stacks read by the ticker before it was preempted do not get labels set later
--EXTENSIONS--
sockets
ffi
--SKIPIF--
<?php
require __DIR__ . '/late_ticker.inc';
if (getenv('STROBE_TEST_UNDER'))
	die('skip the program runs below another one');
if (!HeldTicker::works() || !HeldTicker::sees_calls())
	die('skip no thread can be held here');
?>
--FILE--
<?php
require __DIR__ . '/strobe.inc';
require __DIR__ . '/late_ticker.inc';

const JOBS = '<?php ' . BUSY . '
function work_a($x) { busy(0.0005); }
function work_b($x) { busy(0.0005); }
while (!file_exists($argv[1])) usleep(1000);
for ($end = hrtime(true) + $argv[3] * 1e9; hrtime(true) < $end || (!file_exists($argv[2]) && hrtime(true) < $end + 1e11);)
	foreach (["a", "b"] as $job)
		Strobe\with_labels(["job" => $job], function () use ($job, $argv) {
			for ($i = 0; $i < $argv[4]; $i++)
				array_map("work_$job", [1]);
		});
';

/* Functions outside of PHP's heap, as array_map is, are read by a system call, when the calls themselves have been read. There the
 * thread is held so many times, for five milliseconds. Returns the samples of each job that have its label, and others. */
function hold_at_jobs(string $code, array $ini, array $arguments, int $times): array
{
	$receiver = new Receiver();
	$ticker = new HeldTicker();
	$held = 0;
	$run = profile($code, $ini, ["$receiver->directory/held", "$receiver->directory/enough", ...$arguments], $receiver, function (Receiver $r, Run $run, int $pid) use ($ticker, &$held, $times) {
		if ($ticker->thread === null) {
			if (!$ticker->hold($pid))
				return;
			touch("$r->directory/held");
		}
		while ($held < $times && $ticker->hold_at_read(5000))
			$held++;
		if ($held >= $times) {
			$ticker->release();
			touch("$r->directory/enough");
		}
	});
	check($run->status === 0 && $run->stderr === '' && $held === $times, "held $held times: $run->stdout $run->stderr");
	$right = $wrong = 0;
	foreach ($run->sampled() as $m)
		foreach ($m['stacks'] as [$frames, $n])
			if (preg_match('/work_([ab])/', implode(' ', array_map(fn($f) => is_array($f) ? $f[0] : $f, $frames)), $job))
				if ($job[1] === ($m['labels']['job'] ?? ''))
					$right += $n;
				else
					$wrong += $n;
	return [$right, $wrong];
}

[$times, $least, $seconds] = in_full() ? [150, 1000, '4'] : [50, 300, '1.3'];
[$right, $wrong] = hold_at_jobs(JOBS, ['strobe.flush' => '1'], [$seconds, '10'], $times);
check($right > $least && $wrong === 0, "$wrong samples have the label of the other job, $right have theirs");

/* The ticks of another timer come while no sample is due. */
[$right, $wrong] = hold_at_jobs(str_replace('while (!file', '$other = new Strobe\Sampler(0.001); $other->start(); while (!file', JOBS),
	['strobe.flush' => '1', 'strobe.period' => '0.007'], ['1', '4'], 150);
check($right > 0 && $wrong === 0, "beside another timer $wrong samples have the label of the other job, $right have theirs");
echo "done\n";
?>
--EXPECT--
done
