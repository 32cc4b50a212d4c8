--TEST--
Without threads, signals, descriptors or memory, profiled programs run unchanged
--EXTENSIONS--
sockets
--SKIPIF--
<?php
foreach (['prlimit', 'setpriv'] as $tool)
	if (!trim((string)shell_exec("command -v $tool")))
		die("skip $tool is not installed");
if (getenv('LD_PRELOAD'))
	die('skip something is preloaded, such as a sanitizer, that needs what is taken away');
?>
--FILE--
<?php
require __DIR__ . '/guest.inc';

$code = '<?php
function work($n) { for ($s = 0, $i = 0; $i < $n; $i++) $s += strlen(str_repeat("x", $i & 15)); return $s; }
for ($end = microtime(true) + 0.3; microtime(true) < $end; usleep(500)) work(1000);
usleep(50000);
echo work(20), " well\n";
';
$expected = "126 well\n";
$root = trim((string)shell_exec('id -u')) === '0';
$nobody = $root ? ['setpriv', '--reuid=65534', '--clear-groups'] : [];
$samplers = array_filter(array_keys(WATCHERS), fn($n) => preg_match('/sampled|Sampler|by samples|Excimer/', $n));

nobody_notices('no signal may be queued', $code, $expected, ['under' => ['prlimit', '--sigpending=0:0']]);
nobody_notices('few descriptors', '<?php $f = []; while ($x = @fopen("/dev/null", "r")) $f[] = $x; fclose(array_pop($f)); ' . substr($code, 5), $expected,
	['under' => ['prlimit', '--nofile=16:16'], 'unproven' => true]);
if ($root) {
	// Functions that the program itself called may report the failure, by a warning or, in namespace Strobe, an exception.
	nobody_notices('no thread', $code, $expected, ['under' => [...$nobody, 'prlimit', '--nproc=1:1'], 'anybody' => true], $samplers);
	foreach (watchers($samplers) as $name) {
		$run = watch($name, $code, ['under' => [...$nobody, 'prlimit', '--nproc=1:1'], 'anybody' => true, 'unproven' => true]);
		if (str_starts_with($name, 'Strobe'))
			check(str_contains($run->stdout, 'Uncaught Strobe\Exception'), "no thread, $name: $run->status $run->stdout$run->stderr");
		else
			check($run->status === 0 && str_ends_with($run->stdout, $expected), "no thread, $name: $run->status $run->stdout$run->stderr");
		if (str_contains($name, 'sampled'))
			check($run->stdout === $expected, "no thread, $name, nothing is printed: $run->stdout");
	}
}
// Not much more than PHP itself needs for this, which is more with opcache.
$bytes = getenv('STROBE_TEST_INI') ? 600000000 : 300000000;
$many = '<?php for ($i = 0; $i < 30000; $i++) $code[] = "function f$i(\$n) { return \$n + 1; }"; eval(implode("\n", $code)); unset($code);
$n = 0; for ($i = 0; $i < 30000; $i++) $n = ("f$i")($n); function deep($n) { return $n ? deep($n - 1) : 0; } deep(100000); echo $n, "\n";';
// But for xhprof's samples: each of them is the text of the whole stack, here a megabyte of the program's own memory.
nobody_notices('little address space', $many, "30000\n", ['under' => ['prlimit', "--as=$bytes:$bytes"], 'unproven' => true],
	['xhprof, by samples']);
echo "done\n";
?>
--EXPECT--
done
