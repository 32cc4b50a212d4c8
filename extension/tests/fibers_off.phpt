--TEST--
Fiber switches execute no code of the extension without a trace or a label scope, sampled or not
--EXTENSIONS--
sockets
--SKIPIF--
<?php
if (!trim((string)shell_exec('command -v valgrind')))
	die('skip valgrind, which counts, is not installed');
if (getenv('STROBE_TEST_INI'))
	die('skip valgrind is for the interpreter');
if (getenv('LD_PRELOAD'))
	die('skip something is preloaded, such as a sanitizer');
if (PHP_ZTS)
	die('skip with threads PHP is told of us when it starts');
?>
--FILE--
<?php
require __DIR__ . '/strobe.inc';

const RESUMES = '<?php
$f = new Fiber(function () { for (;;) Fiber::suspend(); });
$f->start();
if (isset($argv[2])) Strobe\with_labels(["a" => "b"], fn() => 0);
for ($i = 0; $i < $argv[1]; $i++) $f->resume();';

/* Enough that one more message in one of the runs, on a busy machine, makes no difference. */
const FEW = 1000, MANY = 41000;

/* Instructions of one resume() and suspend(). */
function instructions(array $ini, string ...$more): float
{
	foreach ([FEW, MANY] as $n) {
		$run = profile(RESUMES, ['under' => ['valgrind', '--tool=callgrind', '--callgrind-out-file=/dev/null'], 'strobe.period' => '100'] + $ini, [(string)$n, ...$more]);
		preg_match('/Collected : (\d+)/', $run->stderr, $m);
		$counts[] = $m[1] ?? throw new Exception("$run->stdout $run->stderr");
	}
	return ($counts[1] - $counts[0]) / (MANY - FEW);
}

$off = instructions(['strobe.mode' => 'off']);
$sampled = instructions(['strobe.clock' => 'cpu']);
$scopes = instructions(['strobe.mode' => 'off'], 'scopes');
$none = (function () {
	foreach ([FEW, MANY] as $n) {
		$file = tempnam(sys_get_temp_dir(), 'resumes');
		file_put_contents($file, RESUMES);
		preg_match('/Collected : (\d+)/', (string)shell_exec("valgrind --tool=callgrind --callgrind-out-file=/dev/null " . PHP_BINARY . " -n $file $n 2>&1"), $m);
		unlink($file);
		$counts[] = $m[1];
	}
	return ($counts[1] - $counts[0]) / (MANY - FEW);
})();
check(abs($off - $none) < 1 && abs($sampled - $none) < 1, "$off off, $sampled sampled, $none without the extension");
check($scopes > $none + 10, "$scopes instructions once there are scopes, whose labels fibers inherit");
echo "done\n";
?>
--EXPECT--
done
