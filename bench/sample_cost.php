<?php
/* Keeps a stack of $argv[1] functions busy for $argv[2] seconds of CPU time and prints what that took.
 * $argv[3] is "excimer" to sample with Excimer at 1 ms; Strobe samples by its settings.
 *
 * The work is a fixed number of rounds, so that the CPU time of two runs can be compared.
 */
function cpu(): float
{
	$u = getrusage();
	return $u['ru_utime.tv_sec'] + $u['ru_stime.tv_sec'] + ($u['ru_utime.tv_usec'] + $u['ru_stime.tv_usec']) / 1e6;
}

function down(int $depth, int $rounds): int
{
	return $depth > 1 ? down($depth - 1, $rounds) : work($rounds);
}

function work(int $rounds): int
{
	for ($n = 0, $i = 0; $i < $rounds; $i++)
		$n = ($n * 31 + $i) & 0xffffff;
	return $n;
}

[, $depth, $rounds, $with] = $argv;
if ($with === 'excimer') {
	$excimer = new ExcimerProfiler();
	$excimer->setPeriod(0.001);
	$excimer->setEventType(EXCIMER_REAL);
	$excimer->start();
}
$before = cpu();
down((int)$depth - 2, (int)$rounds);
$result = ['cpu' => cpu() - $before];
if ($with === 'excimer') {
	$excimer->stop();
	$result['stacks'] = count($excimer->getLog());
}
if (extension_loaded('strobe') && $with !== 'excimer') {
	ob_start();
	(new ReflectionExtension('strobe'))->info();
	$info = ob_get_clean();
	foreach (['stacks' => 'Stacks walked', 'ns' => 'Nanoseconds spent on them', 'median' => 'Nanoseconds per stack, median',
		'p99' => 'Nanoseconds per stack, 99th percentile'] as $key => $row)
		if (preg_match("/^$row => (\d+)/m", $info, $m))
			$result[$key] = (int)$m[1];
}
echo json_encode($result);
