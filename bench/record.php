<?php
/* Works under a stack of so many frames until it is killed, or for so many rounds: php record.php DEPTH [ROUNDS]. With the name of a
 * file it writes there, every 50 ms, how many rounds it made and the CPU time that they took. */
function work($n) {
	$x = 0;
	for ($i = 0; $i < $n; $i++)
		$x = ($x * 31 + $i) & 0xffffff;
	return $x;
}

function deeper($depth, $rounds, $to) {
	if ($depth > 0)
		return deeper($depth - 1, $rounds, $to);
	$done = 0;
	$next = microtime(true);
	while (!$rounds || $done < $rounds) {
		work(2000);
		$done++;
		if ($to && microtime(true) >= $next) {
			$u = getrusage();
			$cpu = $u['ru_utime.tv_sec'] + $u['ru_stime.tv_sec'] + ($u['ru_utime.tv_usec'] + $u['ru_stime.tv_usec']) / 1e6;
			file_put_contents($to, sprintf("%.6f %d %.6f\n", microtime(true), $done, $cpu), FILE_APPEND);
			$next += 0.05;
		}
	}
}

if (($argv[3] ?? '') === '')
	echo "ready\n";
deeper((int)$argv[1] - 3, (int)($argv[2] ?? 0), $argv[3] ?? '');
