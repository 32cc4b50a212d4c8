--TEST--
What a ticking thread read before it lost its processor gets no label that was set meanwhile
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

/* Functions outside of PHP's heap, as array_map is, are read by a system call, when the calls themselves have been read. */
$receiver = new Receiver();
$ticker = new HeldTicker();
$held = 0;
$run = profile('<?php ' . BUSY . '
function work_a($x) { busy(0.0005); }
function work_b($x) { busy(0.0005); }
while (!file_exists($argv[1])) usleep(1000);
for ($end = hrtime(true) + 4e9; hrtime(true) < $end || (!file_exists($argv[2]) && hrtime(true) < $end + 1e11);)
	foreach (["a", "b"] as $job)
		Strobe\with_labels(["job" => $job], function () use ($job) {
			for ($i = 0; $i < 10; $i++)
				array_map("work_$job", [1]);
		});
', ['strobe.flush' => '1'], ["$receiver->directory/held", "$receiver->directory/enough"], $receiver, function (Receiver $r, Run $run, int $pid) use ($ticker, &$held) {
	if ($ticker->thread === null) {
		if (!$ticker->hold($pid))
			return;
		touch("$r->directory/held");
	}
	/* Five milliseconds are a job. */
	while ($held < 150 && $ticker->hold_at_read(5000))
		$held++;
	if ($held >= 150) {
		$ticker->release();
		touch("$r->directory/enough");
	}
});
check($run->status === 0 && $run->stderr === '' && $held === 150, "held $held times: $run->stdout $run->stderr");
$right = $wrong = 0;
foreach ($run->sampled() as $m)
	foreach ($m['stacks'] as [$frames, $n])
		if (preg_match('/work_([ab])/', implode(' ', array_map(fn($f) => is_array($f) ? $f[0] : $f, $frames)), $job))
			if ($job[1] === ($m['labels']['job'] ?? ''))
				$right += $n;
			else
				$wrong += $n;
check($right > 1000 && $wrong <= 3, "$wrong samples have the label of the other job, $right have theirs");
echo "done\n";
?>
--EXPECT--
done
