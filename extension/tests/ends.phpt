--TEST--
A profiled program ends as it does without the extension, and its samples arrive
--EXTENSIONS--
sockets
pcntl
--FILE--
<?php
require __DIR__ . '/strobe.inc';

$ways = [
	'exit' => 'exit(3);',
	'exit in a function' => 'function f() { exit("bye\n"); } f();',
	'uncaught' => 'throw new RuntimeException("lost");',
	'out of memory' => 'ini_set("memory_limit", "8M"); str_repeat("x", 100000000);',
	'out of memory in deep recursion' => 'ini_set("memory_limit", "16M"); function r($a) { return r([$a, $a]) + 1; } r(1);',
	...(in_full() ? ['out of time' => 'set_time_limit(1); for (;;);'] : []),	// a second of CPU time, twice
	'out of time, with a handler' => 'register_shutdown_function(function () { echo "shut down\n"; doze(0.1); }); set_time_limit(1); for (;;) busy(0.01);',
	'undefined function' => 'no_such_function();',
	'exit in a destructor' => 'class D { function __destruct() { exit(4); } } $d = new D;',
	'exception in a generator' => 'function g() { yield 1; throw new Exception("g"); } foreach (g() as $x) doze(0.01);',
	'exit in a fiber' => '(new Fiber(function () { doze(0.01); exit(5); }))->start();',
	'an unfinished fiber' => '$f = new Fiber(function () { try { Fiber::suspend(); } finally { doze(0.01); echo "unwound\n"; } }); $f->start();',
	'parse error in eval' => 'try { eval("this is not PHP"); } catch (ParseError $e) { echo $e->getMessage(), "\n"; }',
	'killed' => 'posix_kill(getmypid(), 15);',
];
foreach ($ways as $name => $code) {
	$program = fn(string $seconds): string => '<?php ' . BUSY . DOZE . " doze($seconds); $code";
	$sampled = profile($program('0.3'));
	$plain = profile($program('0.0'), ['strobe.mode' => 'off']);
	$clean = fn($s) => preg_replace(['~/\S*strobe-test-[^/]*~', '~on line \d+~'], '', $s);
	check($clean($sampled->stdout) === $clean($plain->stdout), "$name:\n$sampled->stdout\n--- without\n$plain->stdout");
	check($sampled->stderr === $plain->stderr && $sampled->status === $plain->status, "$name: status $sampled->status, without $plain->status");
	if ($name !== 'killed') {
		/* A third of them: on a busy machine the ticker may have its first turn late. */
		check($sampled->with('doze') >= 100, "$name: {$sampled->with('doze')} samples");
	}
}
echo "done\n";
?>
--EXPECT--
done
