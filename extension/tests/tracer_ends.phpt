--TEST--
However a traced program ends, running calls are in the trace, and the program ends as it would without it
--EXTENSIONS--
sockets
--FILE--
<?php
require __DIR__ . '/strobe.inc';

$ways = [
	'it ends' => ['', 0],
	'exit' => ['exit(3);', 3],
	'exit in a destructor' => ['$x = new class { function __destruct() { exit(4); } }; unset($x);', 4],
	'exception' => ['throw new Exception("x");', 255],
	'fatal error' => ['undefined_function();', 255],
	'no memory' => ['ini_set("memory_limit", "8M"); $x = str_repeat("x", 100000000);', 255],
	'time is over' => ['set_time_limit(1); for (;;) abs(1);', 255],
	'exit in a fiber' => ['(new Fiber(function () { exit(5); }))->start();', 5],
	'exit in a generator' => ['foreach ((function () { yield 1; exit(6); })() as $x);', 6],
	'exit in a callback' => ['array_map(function () { exit(7); }, [1]);', 7],
];
if (getenv('USE_ZEND_ALLOC') === '0')
	unset($ways['no memory']);	/* the limit is the Zend allocator's */
foreach ($ways as $name => [$code, $status]) {
	/* A time limit takes a second of CPU time in each program, so only some metrics are tried, unless in full. */
	$few = str_starts_with($code, 'set_time_limit') && !in_full() ? [] : ['Strobe\COUNTS'];
	foreach ([...$few, 'Strobe\WALL | Strobe\CPU | Strobe\MEMORY | Strobe\PEAK_MEMORY | Strobe\ALLOCATIONS'] as $metrics) {
		$program = "<?php
function stop() { global \$trace; \$calls = array_column(\$trace->stop()->getFunctions(), 'calls', 'name'); echo \"\\n\", \$calls['deep'] ?? '-', ' ', \$calls['stop'] ?? '-', \"\\n\"; }
function deep(\$n) { if (\$n) return deep(\$n - 1) + 1; $code return 1; }
register_shutdown_function('stop');
\$trace = Strobe\Trace::start($metrics);
deep(10);
";
		$run = profile($program, ['strobe.mode' => 'off', 'strobe.instrument' => '1']);
		check($run->status === $status, "$name: status $run->status instead of $status: $run->stdout$run->stderr");
		check(str_ends_with($run->stdout, "\n11 1\n"), "$name ($metrics): " . $run->stdout);
		/* Left open: nobody stops it. */
		if (!$few)
			continue;
		$run = profile(str_replace("register_shutdown_function('stop');", '', $program), ['strobe.mode' => 'off', 'strobe.instrument' => '1']);
		check($run->status === $status, "$name, left open: status $run->status: $run->stdout$run->stderr");
	}
}
echo "done\n";
?>
--EXPECT--
done
