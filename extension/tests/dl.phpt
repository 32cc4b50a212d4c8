--TEST--
After dl() in the middle of a request tracing is reported as unavailable, and everything else works
--SKIPIF--
<?php
if (PHP_ZTS) die('skip dl() is not for PHP with threads');
?>
--FILE--
<?php
require __DIR__ . '/strobe.inc';

/* Closures that keep what PHP knows of them in memory of their own. */
const PROGRAM = '
class A { public $v = 1; }
for ($i = 0; $i < 50; $i++) {
	$closures[$i] = Closure::bind(function () { return $this->v; }, new A, A::class);
	$closures[$i]();
}
var_dump(dl("strobe.so"), function_exists("xhprof_enable"), Strobe\can_trace(), Strobe\is_tracing());
try {
	$t = Strobe\Trace::start();
} catch (Strobe\Exception $e) {
	echo $e->getMessage(), "\n";
}
foreach ($closures as $f)
	$f();
$s = new Strobe\Sampler(0.001);
$s->start();
for ($end = microtime(true) + 0.05; microtime(true) < $end;)
	$closures[0]();
var_dump(count($s->stop()) > 0);
$s->start();
';
$settings = ['extension_dir' => dirname(extension_path()), 'enable_dl' => '1', 'strobe.instrument' => '1', 'strobe.trace_rate' => '1', 'strobe.compat' => 'xhprof'];
$command = [PHP_BINARY, '-n'];
foreach ($settings as $name => $value)
	array_push($command, '-d', "$name=$value");
$process = proc_open([...$command, '-r', PROGRAM], [['file', '/dev/null', 'r'], ['pipe', 'w'], ['redirect', 1]], $pipes);
echo stream_get_contents($pipes[1]);
check(proc_close($process) === 0, 'it ends well');
echo "done\n";
?>
--EXPECT--
bool(true)
bool(false)
bool(false)
bool(false)
Tracing needs the call observer: set strobe.instrument=1 in php.ini (it is read when PHP starts)
bool(true)
done
