--TEST--
A long-running program sends every second over one connection; a late sample counts every period that has passed
--EXTENSIONS--
sockets
--FILE--
<?php
require __DIR__ . '/strobe.inc';

$run = profile('<?php ' . BUSY . ' function wait_long() { usleep(1500000); } busy(1.2); wait_long(); busy(1.2);', ['strobe.period' => '0.005']);
check(count($run->messages) >= 3 && count($run->messages) <= 5, count($run->messages) . ' messages in 3.9 s');
check($run->connections === 1, "$run->connections connection");
check(abs($run->samples() - 780) <= 40, "{$run->samples()} samples of 5 ms in 3.9 s");
$waited = $run->with('wait_long');
check($waited >= 298 && $waited <= 330, "1.5 s of waiting are $waited samples of 5 ms");
check($run->with('usleep', leaf: true) === $waited, 'and belong to usleep');
for ($i = 1; $i < count($run->messages); $i++)
	check($run->messages[$i]['start'] === $run->messages[$i - 1]['end'], "message $i begins where the last one ended");

// The CPU clock does not run while the program waits.
$run = profile('<?php ' . BUSY . ' function wait_long() { usleep(800000); } busy(0.5); wait_long(); busy(0.5);
$u = getrusage(); echo ($u["ru_utime.tv_sec"] + $u["ru_stime.tv_sec"]) * 1000 + ($u["ru_utime.tv_usec"] + $u["ru_stime.tv_usec"]) / 1000;', ['strobe.clock' => 'cpu', 'strobe.period' => '0.002']);
check($run->messages[0]['clock'] === 2, 'the message names the clock');
$used = (float)$run->stdout;
check(abs($run->samples() * 2 - $used) <= $used * 0.2 + 40, "{$run->samples()} samples of 2 ms in $used ms of CPU time");
check($run->with('wait_long') <= 10, "waiting takes no CPU time: {$run->with('wait_long')}");
echo "done\n";
?>
--EXPECT--
done
