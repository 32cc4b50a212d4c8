--TEST--
excimer: timers and profilers that are still running when the request ends normally, by exit() or by a fatal error
--EXTENSIONS--
sockets
--FILE--
<?php
require __DIR__ . '/excimer.inc';

function ended(string $code, array $ini = []): string
{
	$run = profile('<?php require ' . var_export(__DIR__ . '/excimer.inc', true) . "; $code", $ini + ['strobe.compat' => 'excimer', 'strobe.mode' => 'off']);
	return preg_replace(['~ in \S+( on line |:)\d+~', '~\nStack trace:.*  thrown~s', '~ \(tried to allocate \d+ bytes\)~'], '', trim($run->stdout)) . " [$run->status]";
}

$kept = '$p = profiler(); $p->setFlushCallback(function ($log) { echo "flushed ", count($log) > 0 ? "some" : "none", "\n"; }, 1000000);
	$t = new ExcimerTimer(); $t->setPeriod(0.001); $t->setCallback(function () { $GLOBALS["ticks"] = ($GLOBALS["ticks"] ?? 0) + 1; }); $t->start();
	work_until(fn() => count($p->getLog()) > 2);';
echo ended($kept), "\n";
echo ended("$kept exit(3);"), "\n";
echo ended("register_shutdown_function(function () { \$n = \$GLOBALS['ticks']; work_until(fn() => \$GLOBALS['ticks'] > \$n); echo \"shutdown\\n\"; }); $kept"), "\n";
echo ended('$t = excimer_set_timeout(function () { echo "out\n"; exit(4); }, 0.005); work(30);'), "\n";
echo ended('register_shutdown_function(function () { work(0.01); echo "shutdown\n"; }); $t = excimer_set_timeout(function () { exit(4); }, 0.005);
	$p = profiler(); work(30);'), "\n";
echo ended('$t = excimer_set_timeout(function () { no_such_function(); }, 0.005); work(30);'), "\n";
echo ended('$t = excimer_set_timeout(function () { throw new Exception("uncaught"); }, 0.005); work(30);'), "\n";
$ended = ended('$t = excimer_set_timeout(function () { str_repeat("x", 100000000); exit(7); }, 0.005); work(30);', ['memory_limit' => '32M']);
/* Only PHP's own allocator knows a limit. */
check($ended === (getenv('USE_ZEND_ALLOC') === '0' ? ' [7]' : 'Fatal error: Allowed memory size of 33554432 bytes exhausted [255]'), $ended);
echo ended('$p = profiler(); $p->setFlushCallback(function () { exit(5); }, 1); work(30);'), "\n";
echo ended('class D { function __destruct() { $GLOBALS["d"] = profiler(); work(0.01); echo "destructor\n"; } } $GLOBALS["x"] = new D();'), "\n";
echo ended("$kept set_time_limit(1); ini_set('max_execution_time', 1); while (true);"), "\n";
echo ended('function f() { static $p; $p = profiler(); $p->setFlushCallback(function ($l) { echo "of a static\n"; }, 100000);
	work_until(fn() => count($p->getLog())); } f();'), "\n";
echo ended('ob_start(function ($s) { work(0.003); return strtoupper($s); }); $p = profiler(); echo "output\n"; work(0.01);'), "\n";
echo "done\n";
?>
--EXPECT--
flushed some [0]
flushed some [3]
shutdown
flushed some [0]
out [4]
shutdown [4]
Fatal error: Uncaught Error: Call to undefined function no_such_function() [255]
Fatal error: Uncaught Exception: uncaught [255]
 [5]
destructor [0]
Fatal error: Maximum execution time of 1 second exceeded [255]
of a static [0]
OUTPUT [0]
done
