--TEST--
Thread-safe PHP: threads are sampled separately, in parallel, with their own labels, and leave nothing behind
--EXTENSIONS--
sockets
pcntl
posix
--SKIPIF--
<?php
if (!PHP_ZTS || !getenv('STROBE_TEST_THREADS'))
	die('skip only for thread-safe PHP, with the program of tests/php/threads.c');
?>
--FILE--
<?php
require __DIR__ . '/strobe.inc';

/* Runs `$code` in `$threads` threads at a time, `$rounds` times. */
function threads(string $code, int $rounds, int $threads, array $ini = []): Run
{
	$receiver = new Receiver();
	file_put_contents("$receiver->directory/script.php", $code);
	$ini += ['extension' => extension_path(), 'strobe.mode' => 'sample', 'strobe.period' => '0.001', 'strobe.socket' => $receiver->path,
		'memory_limit' => '512M', 'display_errors' => '1', 'html_errors' => '0'];
	$ini += json_decode(getenv('STROBE_TEST_INI') ?: '[]', true);
	$lines = [];
	foreach ($ini as $name => $value)
		foreach ((array)$value as $v)
			$lines[] = "$name=\"$v\"";
	$run = new Run();
	$process = proc_open([getenv('STROBE_TEST_THREADS'), $rounds, $threads, "$receiver->directory/script.php", ...$lines],
		[['file', '/dev/null', 'r'], ['file', "$receiver->directory/out", 'w'], ['file', "$receiver->directory/err", 'w']], $pipes);
	$deadline = microtime(true) + 120;
	do {
		$status = proc_get_status($process);
		$receiver->poll();
		usleep(2000);
	} while ($status['running'] && microtime(true) < $deadline);
	if ($status['running'])
		proc_terminate($process, 9);
	$receiver->poll();
	$run->status = $status['running'] ? 999 : ($status['signaled'] ? 128 + $status['termsig'] : $status['exitcode']);
	$run->stdout = file_get_contents("$receiver->directory/out");
	$run->stderr = file_get_contents("$receiver->directory/err");
	$run->messages = $receiver->messages;
	$run->connections = $receiver->accepted;
	return $run;
}

function growth(Run $run): array
{
	if (!preg_match('/^(\d+) requests, growth: (-?\d+) KB, (-?\d+) threads, (-?\d+) descriptors$/m', $run->stdout, $m))
		return [];
	return array_map('intval', array_slice($m, 1));
}

/* Samples of each function "only_N", by label. */
function by_label(Run $run): array
{
	$all = [];
	foreach ($run->messages as $m)
		foreach ($m['stacks'] as [$path, $samples])
			foreach ($path as $name)
				if (str_starts_with($name, 'only_'))
					$all[$m['labels']['thread']][$name] = ($all[$m['labels']['thread']][$name] ?? 0) + $samples;
	ksort($all);
	return $all;
}

$only = implode("\n", array_map(fn($i) => "function only_$i() { busy(0.3); }", range(0, 7)));
$busy = '<?php ' . BUSY . $only . ' ("only_" . $_SERVER["THREAD"])();';

foreach (['wall', 'cpu'] as $clock) {
	$run = threads($busy, 2, 6, ['strobe.clock' => $clock]);
	check($run->status === 0 && growth($run) && growth($run)[0] === 12, "12 requests succeed: $run->status $run->stdout$run->stderr");
	$all = by_label($run);
	check(array_keys($all) === ['t0', 't1', 't2', 't3', 't4', 't5'], "$clock: each thread sends: " . json_encode($all));
	$sum = 0;
	foreach ($all as $label => $functions) {
		check(array_keys($functions) === ['only_' . $label[1]], "$clock: nobody has what belongs to another: $label " . json_encode($functions));
		$samples = array_sum($functions);
		check($clock === 'cpu' || ($samples > 450 && $samples < 800), "$label: $samples samples in twice 300 ms");
		check($samples > 20, "$label: $samples samples");
		$sum += $samples;
	}
	check($run->connections === 12, "a connection per thread: $run->connections");
	$cores = (int)shell_exec('nproc');
	check($clock === 'wall' || $sum < 600 * $cores * 1.3, "$sum samples of CPU time on $cores cores in 600 ms");
}

// Threads that live for a few milliseconds, some of which end while a tick is on its way.
$short = '<?php ' . BUSY . ' for ($i = 0; $i < 3; $i++) busy(0.0005 * (1 + $_SERVER["THREAD"]));';
$run = threads($short, 200, 8, ['strobe.period' => '0.0001']);
[$requests, $kb, $tasks, $fds] = growth($run) ?: [0, 0, 0, 0];
check($run->status === 0 && $requests === 1600, "1600 requests succeed: $run->status $run->stdout$run->stderr");
check($kb < 2000 && $tasks === 0 && $fds === 0, "nothing grows: $run->stdout");
check($run->samples() > 1600 * 5, "{$run->samples()} samples");

// A thread that forks: the child has that thread only, is sampled on, and closes what belongs to the others.
$fork = '<?php ' . BUSY . '
function in_child() { busy(1.3); }
if ($_SERVER["THREAD"] === 2) {
	busy(0.05);
	$pid = pcntl_fork();
	if ($pid === 0) {
		in_child();
		posix_kill(getmypid(), 9);
	}
	pcntl_waitpid($pid, $status);
	echo pcntl_wifsignaled($status) ? "killed" : "ended";
} else {
	busy(0.4);
}';
$run = threads($fork, 1, 4);
check($run->status === 0 && str_contains($run->stdout, 'killed') && growth($run)[0] === 4, "a thread forks: $run->status $run->stdout$run->stderr");
$seen = [];
foreach ($run->messages as $m)
	foreach ($m['stacks'] as [$path, $samples])
		if (in_array('in_child', $path, true))
			$seen[$m['labels']['thread'] . ' ' . $m['pid']] = ($seen[$m['labels']['thread'] . ' ' . $m['pid']] ?? 0) + $samples;
check(count($seen) === 1 && str_starts_with(key($seen), 't2 ') && current($seen) > 900, 'the child is sampled: ' . json_encode($seen));
check(count(array_unique(array_column($run->messages, 'pid'))) === 2, 'two processes');

// phpinfo() counts for the whole process.
$info = '<?php ' . BUSY . ' busy(0.1); if ($_SERVER["ROUND"] === 1) { ob_start(); (new ReflectionExtension("strobe"))->info();
	preg_match("/Requests sampled\D*(\d+)/", strip_tags(ob_get_clean()), $m); echo "counted $m[1]\n"; }';
$run = threads($info, 2, 3);
check(preg_match_all('/^counted (\d+)$/m', $run->stdout, $m) === 3 && max($m[1]) == 6 && min($m[1]) >= 4, "requests of all threads: $run->stdout");
// Exact traces, at the same time in each thread, of more calls the higher its number; by two APIs at once.
$trace = '<?php ' . BUSY . '
function inner() { return 1; }
function outer($n) { for ($i = 0; $i < $n; $i++) inner(); }
$n = 20000 + $_SERVER["THREAD"];
$own = Strobe\Trace::start();
tideways_xhprof_enable(TIDEWAYS_XHPROF_FLAGS_CPU | TIDEWAYS_XHPROF_FLAGS_MEMORY);
outer($n);
$edges = tideways_xhprof_disable();
$other = $own->stop()->toXhprof();
$right = array_key_exists("main()", $edges) && $edges["outer==>inner"]["ct"] === $n && $edges["main()==>outer"]["ct"] === 1
	&& $edges["outer==>inner"]["cpu"] >= 0 && $other["outer==>inner"]["ct"] === $n;
echo $right ? "right\n" : "WRONG " . json_encode([$n, $edges, $other]) . "\n";';
$run = threads($trace, 20, 6, ['strobe.compat' => 'tideways_xhprof', 'strobe.instrument' => '1']);
check($run->status === 0 && substr_count($run->stdout, 'right') === 120, "120 traces: $run->status $run->stdout$run->stderr");
check((growth($run)[1] ?? PHP_INT_MAX) < 3000, "traces leave nothing: $run->stdout");
echo "done\n";
?>
--EXPECT--
done
