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

/* Callgrind dumps and resets its counters when the collector is called. */
const RESUMES = '<?php
$f = new Fiber(function () { for (;;) Fiber::suspend(); });
$f->start();
for ($i = 0; $i < 100; $i++) $f->resume();
gc_collect_cycles();
for ($i = 0; $i < $argv[1]; $i++) $f->resume();
gc_collect_cycles();
if (!function_exists("Strobe\with_labels")) return;
Strobe\with_labels(["a" => "b"], fn() => 0);
for ($i = 0; $i < 100; $i++) $f->resume();
gc_collect_cycles();
for ($i = 0; $i < $argv[1]; $i++) $f->resume();
gc_collect_cycles();';

/* Enough that one more message among them, on a busy machine, makes no difference. */
const ROUNDS = 40000;

/* Instructions of one resume() and suspend(): without a scope, and after one. */
function instructions(?array $ini): array
{
	$receiver = new Receiver();
	$under = ['valgrind', '--tool=callgrind', '--dump-before=zend_gc_collect_cycles', "--callgrind-out-file=$receiver->directory/counts"];
	if ($ini !== null) {
		$run = profile(RESUMES, ['under' => $under, 'strobe.period' => '100'] + $ini, [(string)ROUNDS], $receiver);
		$said = "$run->status $run->stdout $run->stderr";
	} else {
		file_put_contents("$receiver->directory/script.php", RESUMES);
		$said = shell_exec(implode(' ', [...$under, PHP_BINARY, '-n', "$receiver->directory/script.php", ROUNDS, '2>&1']));
	}
	$counts = [];
	foreach ([2, 4] as $part)
		if (preg_match('/^(?:summary|totals): (\d+)/m', (string)@file_get_contents("$receiver->directory/counts.$part"), $m))
			$counts[] = $m[1] / ROUNDS;
	check(count($counts) === ($ini !== null ? 2 : 1), "counted: $said");
	return $counts + [NAN, NAN];
}

[$off, $scopes] = instructions(['strobe.mode' => 'off']);
[$sampled] = instructions(['strobe.clock' => 'cpu']);
[$none] = instructions(null);
check(abs($off - $none) < 1 && abs($sampled - $none) < 1, "$off off, $sampled sampled, $none without the extension");
check($scopes > $none + 10, "$scopes instructions once there are scopes, whose labels fibers inherit");
echo "done\n";
?>
--EXPECT--
done
