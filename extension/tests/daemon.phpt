--TEST--
A missing, unresponsive, slow or restarted daemon costs only counted samples, and the connection is reopened
--EXTENSIONS--
sockets
--FILE--
<?php
require __DIR__ . '/strobe.inc';

/* It mostly sleeps, in steps so short that it comes to a safe point in each period. */
$long = '<?php echo "start\n"; for ($end = microtime(true) + (float)$argv[1]; microtime(true) < $end;) usleep(500); echo "end\n"; (new ReflectionExtension("strobe"))->info(); printf("Took => %d\n", (microtime(true) - $_SERVER["REQUEST_TIME_FLOAT"]) * 1000);';
$count = fn(Run $r, string $row) => preg_match("/^$row => (\d+)$/m", $r->stdout, $m) ? (int)$m[1] : -1;

// Nobody there: samples are counted as lost. The last second is still held when the counts are printed.
$receiver = new Receiver(listen: false);
$run = profile($long, [], ['2.3'], $receiver);
check($run->status === 0 && str_contains($run->stdout, "start\nend\n"), 'without a daemon the program runs');
check($count($run, 'Samples lost: no_daemon') >= 1500, 'no daemon: ' . $count($run, 'Samples lost: no_daemon') . ' lost');
check($count($run, 'Messages sent') === 0, 'nothing was sent');
preg_match_all('/^(Samples|Runs) lost: (\w+) =>/m', $run->stdout, $rows);
$reasons = ['no_daemon', 'socket_full', 'too_large', 'no_memory', 'refused'];
check($rows[2] === [...$reasons, 'jit', ...$reasons], 'phpinfo() has reasons for losses in PHP only: ' . json_encode($rows[2]));

// It appears later: what was lost before is reported with the first message, and nothing is missing after that.
$receiver = new Receiver(listen: false);
$since = function (Run $run) use (&$started): float {		/* seconds since the program was seen to run */
	if (!str_contains($run->stdout, 'start'))
		$started = microtime(true);
	return microtime(true) - $started;
};
$run = profile($long, [], ['5.5'], $receiver, function ($receiver, $run) use ($since) {
	static $up = false;
	if ($since($run) > 2.6 && !$up)
		$up = (bool)($receiver->listen() ?? true);
});
$lost = $run->messages[0]['drops'] ?? [];
check(count($run->messages) >= 3, 'messages arrive once the daemon is there: ' . count($run->messages));
check(array_keys($lost) === [1] && $lost[1] >= 800 && $lost[1] === $count($run, 'Samples lost: no_daemon'), 'lost samples are reported: ' . json_encode($lost));
$ms = $count($run, 'Took');
check($ms >= 5500 && abs(array_sum($lost) + $run->samples() - $ms) < 200 + 0.05 * $ms, "all of $ms are accounted for: {$run->samples()} and " . json_encode($lost));
foreach (array_slice($run->messages, 1) as $m)
	check(!$m['drops'], 'and only once');

// A restart: the old connection breaks, the next message finds the new daemon.
$receiver = new Receiver();
$run = profile($long, [], ['4.5'], $receiver, function ($receiver, $run) use ($since) {
	static $step = 0;
	if ($since($run) > 1.5 && $step === 0 && ++$step)
		$receiver->close();
	if ($since($run) > 1.7 && $step === 1 && ++$step)
		$receiver->listen();
});
$lost = array_sum(array_map(fn($m) => array_sum($m['drops']), $run->messages));
check($run->connections >= 2, "it connects again: $run->connections");
$ms = $count($run, 'Took');
check($ms >= 4500 && abs($lost + $run->samples() - $ms) < 200 + 0.05 * $ms, "{$run->samples()} samples and $lost lost of $ms");

// A daemon that accepts nothing and reads nothing: the buffer fills, the program goes on.
$deaf = new Receiver();
$many = '<?php function f($n) { for ($i = 0; $i < 400; $i++) { $name = "a" . str_repeat("x", 200) . "_{$n}_$i"; eval("function $name() { for (\$k = 0; \$k < 3000; \$k++); }"); $name(); } }
for ($t = microtime(true), $n = 0; microtime(true) - $t < 1.2; $n++) f($n); (new ReflectionExtension("strobe"))->info();';
file_put_contents("$deaf->directory/many.php", $many);
$process = proc_open(php_command(['strobe.mode' => 'sample', 'strobe.period' => '0.0002', 'strobe.flush' => '0.1', 'strobe.socket' => $deaf->path], ["$deaf->directory/many.php"]),
	[1 => ['file', "$deaf->directory/out", 'w']], $pipes);
$started = microtime(true);
check(proc_close($process) === 0, 'the program runs beside a deaf daemon');
$run->stdout = file_get_contents("$deaf->directory/out");
check(microtime(true) - $started < 30, 'and is not held up');
check($count($run, 'Messages sent') + $count($run, 'Samples lost: socket_full') > 0, 'messages wait in the buffer, or are counted: ' . $count($run, 'Messages sent'));
check($count($run, 'Samples lost: no_daemon') === 0, 'a deaf daemon is not a missing one');

// No permission, and a path that is not a socket.
$receiver = new Receiver(listen: false);
touch($receiver->path);
$run = profile($long, [], ['1.2'], $receiver);
check($run->status === 0 && $count($run, 'Samples lost: no_daemon') > 0, 'a file where the socket should be');
$run = profile($long, ['strobe.socket' => '/' . str_repeat('x', 300)], ['1.2'], new Receiver());
check($run->status === 0 && $count($run, 'Samples lost: no_daemon') > 0, 'a path that is too long');
echo "done\n";
?>
--EXPECT--
done
