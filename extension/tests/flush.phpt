--TEST--
A long-running program sends every second over one connection; a late sample counts all elapsed periods
--EXTENSIONS--
sockets
--FILE--
<?php
require __DIR__ . '/strobe.inc';

/* Compared with what the program measures: on a busy machine it takes longer, and the ticking thread is late by some periods. */
$run = profile('<?php ' . DOZE . ' function wait_long() { usleep(1500000); } doze(1.2); $t = hrtime(true); wait_long(); $t = hrtime(true) - $t; doze(1.2);
echo json_encode([microtime(true) - $_SERVER["REQUEST_TIME_FLOAT"], $t / 1e9]);', ['strobe.period' => '0.005']);
[$took, $wait] = json_decode($run->stdout);
check(count($run->messages) >= 3 && count($run->messages) <= $took + 1.5, count($run->messages) . " messages in $took s");
check($run->connections === 1, "$run->connections connection");
check(abs($run->samples() - $took / 0.005) <= 0.05 * $took / 0.005, "{$run->samples()} samples of 5 ms in $took s");
$waited = $run->with('wait_long');
check($waited >= 0.9 * $wait / 0.005 && $waited <= 1.1 * $wait / 0.005, "$wait s of waiting are $waited samples of 5 ms");
check($run->with('usleep', leaf: true) >= 0.99 * $waited, 'and belong to usleep');
for ($i = 1; $i < count($run->messages); $i++)
	check($run->messages[$i]['start'] === $run->messages[$i - 1]['end'], "message $i begins where the last one ended");

// The CPU clock does not run while the program waits. The start of PHP, which is not sampled, may take long.
$run = profile('<?php ' . BUSY . ' function wait_long() { usleep(800000); }
function used() { $u = getrusage(); return ($u["ru_utime.tv_sec"] + $u["ru_stime.tv_sec"]) * 1000 + ($u["ru_utime.tv_usec"] + $u["ru_stime.tv_usec"]) / 1000; }
$before = used(); busy(0.25); wait_long(); busy(0.25); echo used() - $before;', ['strobe.clock' => 'cpu', 'strobe.period' => '0.002']);
check($run->messages[0]['clock'] === 2, 'the message names the clock');
$used = (float)$run->stdout;
check(abs($run->samples() * 2 - $used) <= $used * 0.2 + 40, "{$run->samples()} samples of 2 ms in $used ms of CPU time");
check($run->with('wait_long') <= 40, "waiting takes no CPU time: {$run->with('wait_long')}");
echo "done\n";
?>
--EXPECT--
done
