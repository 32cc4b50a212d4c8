--TEST--
No invalid access and no leak under valgrind: closures, eval, includes, generators, fibers, forks, long names, many flushes
--EXTENSIONS--
sockets
--SKIPIF--
<?php
if (!trim((string)shell_exec('command -v valgrind')))
	die('skip valgrind is not installed');
if (getenv('STROBE_TEST_INI'))
	die('skip valgrind is for the interpreter: the code of the JIT is slow under it and not ours');
if (getenv('LD_PRELOAD'))
	die('skip something is preloaded, such as a sanitizer');
?>
--FILE--
<?php
require __DIR__ . '/strobe.inc';

$receiver = new Receiver();
for ($i = 0; $i < 5; $i++)
	file_put_contents("$receiver->directory/part$i.php", "<?php function part$i() { return work(0.1); } part$i();");
$code = '<?php ' . BUSY . DOZE . '
function work(float $seconds) { busy($seconds / 10); doze($seconds * 0.9); }
class Base { function __call($name, $arguments) { return work(0.02); } function __destruct() { work(0.02); } static function make() { return new static; } }
function numbers() { yield work(0.02); yield from more(); }
function more() { yield work(0.02); yield new class { function run() { return work(0.06); } }; }
function deep($n) { return $n ? deep($n - 1) : work(0.1); }
for ($round = 0; $round < $argv[1]; $round++) {
	for ($i = 0; $i < 5; $i++) {
		if ($round == 0)
			include __DIR__ . "/part$i.php";
		eval("(function () { work(0.02); })();");
		$name = "long" . str_repeat("x", 3000 * $i) . $round;
		eval("function $name() { return work(0.02); }");
		$name();
		$f = function ($x) { return work(0.02); };
		array_map($f, [1]);
		unset($f);
	}
	$o = Base::make();
	$o->missing();
	unset($o);
	foreach (numbers() as $v)
		if (is_object($v))
			$v->run();
	$fiber = new Fiber(function () { work(0.02); Fiber::suspend(); work(0.02); });
	$fiber->start();
	$fiber->resume();
	deep(2000);
	usleep(10000);
	try { (fn() => throw new Exception("x"))(); } catch (Exception) { work(0.02); }
}
if (function_exists("pcntl_fork")) {
	$pid = pcntl_fork();
	work(0.1);
	if ($pid)
		pcntl_waitpid($pid, $status);
}
echo "end\n";
';
$run = profile($code, ['under' => ['valgrind', '-q', '--fair-sched=try', '--error-exitcode=99', '--leak-check=full', '--errors-for-leak-kinds=definite'],
	'strobe.period' => '0.002', 'pcre.jit' => '0', 'memory_limit' => '-1'], [in_full() ? '3' : '2'], $receiver, null, ['USE_ZEND_ALLOC' => '0']);
check($run->status === 0, "valgrind found something: $run->status\n$run->stderr");
check(str_starts_with($run->stdout, 'end'), "the program runs: $run->stdout");
check(count($run->messages) >= 3 && $run->samples() > 300, count($run->messages) . ' messages with ' . $run->samples() . ' samples');
foreach (['deep', 'more', 'Base::__call', 'Base::__destruct', 'class@anonymous::run', 'part3'] as $name)
	check($run->with($name) > 0, "$name is in the samples");
echo "done\n";
?>
--EXPECT--
done
