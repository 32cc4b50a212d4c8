--TEST--
Programs end the same way with and without profiling: exit, exceptions, memory and time limits, signals
--EXTENSIONS--
sockets
pcntl
--FILE--
<?php
require __DIR__ . '/guest.inc';

$down = 'register_shutdown_function(function () { echo "shut down ", str_repeat("x", 5), "\n"; });';
$ways = [
	'a return' => ['function f() { return 1; } echo f(), "\n"; return 7;'],
	'exit' => ['echo "on\n"; exit(3);'],
	'exit in nested calls' => ['function f($n) { if ($n == 0) exit("bye\n"); try { f($n - 1); } finally { echo "never\n"; } } array_map("f", [30]);'],
	'exit in a callback of an internal function' => ['usort($GLOBALS["argv"], fn() => 0); $a = [3, 1, 2]; usort($a, function ($x, $y) { exit(6); });'],
	'exit in a destructor' => ['class D { function __destruct() { echo "gone\n"; exit(4); } } function f() { $d = new D; } f();'],
	'exit in a generator in a fiber' => ['function g() { yield 1; exit(5); } (new Fiber(function () { foreach (g() as $x) Fiber::suspend($x); exit(5); }))->start(); foreach (g() as $x);'],
	'an exception that nobody catches' => ['function f($n) { if (!$n) throw new RuntimeException("lost"); f($n - 1); } f(5);'],
	'exceptions that are caught' => ['function f($n) { if (!$n) throw new RuntimeException("lost"); f($n - 1); }
		for ($i = 0; $i < 100; $i++) try { f($i % 7); } catch (RuntimeException $e) { echo count($e->getTrace()); }'],
	'an undefined function' => ['no_such_function();'],
	'a parse error in an eval' => ['try { eval("this is not PHP"); } catch (ParseError $e) { echo $e->getMessage(), "\n"; }'],
	'no memory' => ["$down ini_set('memory_limit', '8M'); function f() { return str_repeat('x', 100000000); } f();"],
	// Without a function for the end: PHP may have no memory left to call it, watched or not.
	'no memory in deep recursion' => ["ini_set('memory_limit', '24M'); function r(\$a) { return r([\$a, \$a]) + 1; } r(1);", 'unproven', 'deep'],
	'no memory, and nobody stops the watch' => ["$down ini_set('memory_limit', '8M'); function f() { return str_repeat('x', 100000000); } f();", 'unproven'],
	'no memory in an internal callback' => ["$down ini_set('memory_limit', '8M'); array_map(fn() => array_fill(0, 10000000, 1), [1]);"],
	'no memory in a fiber' => ["$down ini_set('memory_limit', '8M'); (new Fiber(function () { Fiber::suspend(str_repeat('x', 100000000)); }))->start();"],
	// Each takes a second of CPU time, with every watcher; ends.phpt and tracer_ends.phpt have such an end, too.
	...(in_full() ? ['no time in calls' => ["$down set_time_limit(1); function f(\$i) { return \$i + 1; } for (\$i = 0;; \$i = f(\$i));"],
		'no time' => ['set_time_limit(1); for (;;);'],
		'no time in recursion' => ["$down set_time_limit(1); function f(\$n) { return \$n ? f(\$n - 1) + f(\$n - 1) : 1; } f(100);"]] : []),
	'an unfinished fiber' => ['function busy() { for ($i = 0; $i < 1000; $i++) md5("x"); } $f = new Fiber(function () { try { Fiber::suspend(); } finally { busy(); echo "unwound\n"; } }); $f->start();'],
	'an unfinished generator' => ['function g() { try { yield 1; } finally { echo "closed\n"; } } $g = g(); echo $g->current();'],
	'killed' => ['function f() { exec("kill -TERM " . getmypid()); sleep(5); } f();', 'unproven'],
	'asynchronous signals' => ['pcntl_async_signals(true); $n = 0; pcntl_signal(SIGUSR1, function () use (&$n) { $n++; });
		function f($i) { return $i; } $pid = getmypid();
		$p = popen("i=0; while [ \$i -lt 40 ]; do kill -USR1 $pid; sleep 0.005; i=$((i + 1)); done", "r");
		for ($end = microtime(true) + 20; $n < 20 && microtime(true) < $end;) f($n);
		echo $n >= 20 ? "20\n" : "$n signals\n"; while (pclose($p) === -1 && microtime(true) < $end);'],
	'an exception in a signal handler' => ['pcntl_async_signals(true); pcntl_signal(SIGALRM, function () { throw new Exception("in time"); });
		$p = popen("sleep 0.1; kill -ALRM " . getmypid(), "r"); function f() { for (;;) strrev("abc"); } try { f(); } catch (Exception $e) { echo $e->getMessage(), "\n"; }'],
	'a timer of its own' => ['pcntl_async_signals(true); pcntl_signal(SIGALRM, function () { echo "alarm\n"; }); pcntl_alarm(1);
		for ($end = microtime(true) + 1.3; microtime(true) < $end;) usleep(1000); echo "done\n";'],
	'a ticking program' => ['declare(ticks=1); $n = 0; register_tick_function(function () use (&$n) { $n++; }); for ($i = 0; $i < 100; $i++) abs($i); echo $n, "\n";'],
	'deep recursion' => ['function f($n) { return $n ? f($n - 1) + 1 : 0; } echo f(200000), "\n";', 'proven', 'deep'],
	'a garbage collection' => ['class N { public $o; } function f() { $a = new N; $b = new N; $a->o = $b; $b->o = $a; } for ($i = 0; $i < 30000; $i++) f(); echo gc_status()["runs"] > 0 ? "runs\n" : "none\n";'],
	'output buffers' => ['ob_start(fn($s) => strtoupper($s)); function f() { echo "text "; } f(); f(); ob_end_flush(); ob_start(fn($s) => strrev($s)); f();'],
];
// Each of the others has a neighbor in the list that does the same to a program.
$not = ['loaded', 'idle observer', 'traced', 'xhprof, by samples', 'Strobe\\Sampler', 'Excimer, by CPU time'];
foreach ($ways as $name => $way) {
	// Without the Zend allocator, as under a sanitizer, nothing is ever too much.
	if (str_starts_with($name, 'no memory') && getenv('USE_ZEND_ALLOC') === '0')
		continue;
	// PHP 8.5 and later: a fatal error has a stack trace, if there is memory left for that.
	nobody_notices($name, '<?php ' . $way[0], null, ['memory_limit' => '1G', 'fatal_error_backtraces' => '0'] + (($way[1] ?? '') === 'unproven' ? ['unproven' => true] : []),
		// A run that deep is too much for the receiver of these tests.
		isset($way[2]) ? [...$not, 'every request a run'] : $not);
}
echo "done\n";
?>
--EXPECT--
done
