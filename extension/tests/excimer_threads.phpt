--TEST--
excimer: in thread-safe PHP each thread has its own profilers, timers and CPU clock
--SKIPIF--
<?php
if (!PHP_ZTS || !getenv('STROBE_TEST_THREADS'))
	die('skip only for thread-safe PHP, with the program of tests/php/threads.c');
?>
--EXTENSIONS--
sockets
--FILE--
<?php
require __DIR__ . '/excimer.inc';

$script = tempnam(sys_get_temp_dir(), 'strobe');
file_put_contents($script, '<?php
require_once ' . var_export(__DIR__ . '/excimer.inc', true) . ';
$ticks = 0;
$begin = hrtime(true);
$t = new ExcimerTimer();
$t->setPeriod(0.001);
$t->setCallback(function ($n) use (&$ticks) { $ticks += $n; });
$t->start();
$real = profiler();
$real->setFlushCallback(function () {}, 7);
$cpu = new ExcimerProfiler();
$cpu->setEventType(EXCIMER_CPU);
$cpu->setPeriod(0.001);
$cpu->start();
$end = microtime(true) + 20;
$events = 0;
while (($ticks < 20 || $cpu->getLog()->getEventCount() < 20) && microtime(true) < $end) {
	work(0.002);
	usleep(2000);
}
$real->stop();
$cpu->stop();
$ms = (hrtime(true) - $begin) / 1e6;
$log = $cpu->flush();
$ok = $ticks >= 20 && $log->getEventCount() >= 20 && $log->getEventCount() < 0.8 * $ms && $ticks <= $ms + 1;
foreach ($log as $entry)
	foreach ($entry->getTrace() as $frame)
		$ok = $ok && ($frame["file"] === __FILE__ || str_ends_with($frame["file"], "excimer.inc"));
echo $ok ? "ok\n" : "ticks $ticks cpu {$log->getEventCount()} ms $ms\n";
');
exec(escapeshellarg(getenv('STROBE_TEST_THREADS')) . " 4 3 $script " . implode(' ', array_map('escapeshellarg', [
	'extension="' . extension_path() . '"', 'strobe.compat="excimer"', 'display_errors="1"', 'html_errors="0"'])) . ' 2>&1', $lines, $status);
unlink($script);
check($status === 0, "it ends well: $status");
foreach (array_count_values(array_filter($lines, fn($line) => !str_contains($line, ' requests, ') && $line !== '')) as $line => $n)
	echo "$n × $line\n";
?>
--EXPECT--
12 × ok
