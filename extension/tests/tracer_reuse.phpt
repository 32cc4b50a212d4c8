--TEST--
Freed and reused code is never confused with other code, and is not kept forever
--INI--
strobe.instrument=1
opcache.enable_cli=0
--FILE--
<?php
require __DIR__ . '/tracer.inc';

function run(callable $f) { return $f(); }

/* Closures of eval'd code, each gone before the next: the C library gives out the same addresses again. */
$trace = Strobe\Trace::start(Strobe\COUNTS, ['files' => false]);
for ($i = 0; $i < 200; $i++) {
	$name = ['strrev', 'ucfirst', 'trim'][$i % 3];
	run(eval(str_repeat("\n", $i) . "return function () { return $name('x'); };"));
}
$got = [];
foreach (explode("\n", trim($trace->stop()->toFolded('calls'))) as $line)
	if (preg_match('~run;\{closure:.*\((\d+)\)\};(\w+) (\d+)$~', $line, $m))
		$got[(int)$m[1]] = [$m[2], (int)$m[3]];
check(count($got) === 200, count($got) . ' closures');
for ($i = 0; $i < 200; $i++)
	check(($got[$i + 1] ?? null) === [['strrev', 'ucfirst', 'trim'][$i % 3], 1], 'closure on line ' . ($i + 1) . ': ' . json_encode($got[$i + 1] ?? null));

/* The same with variables of their own, alive or not. */
$trace = Strobe\Trace::start(Strobe\WALL);
$kept = [];
for ($i = 0; $i < 500; $i++) {
	$x = range(1, $i % 50 + 1);
	$f = function () use ($x, $i) { static $calls = 0; $calls++; return count($x) + $i; };
	if ($i % 7 === 0)
		$kept[] = $f;
	run($f);
}
unset($f, $x);
$got = paths($trace->stop(), 'calls');
check(($got['run;{closure}'] ?? 0) === 500, json_encode($got));
foreach ($kept as $f)
	$f();
unset($kept, $f);

/* A long run of eval and include does not fill memory_limit. */
$file = sys_get_temp_dir() . '/strobe-test-' . getmypid() . '.php';
file_put_contents($file, '<?php return (function () { return strrev("x"); })();' . str_repeat("\n// filler", 200));
$trace = Strobe\Trace::start(Strobe\COUNTS);
for ($i = 0; $i < 6000; $i++) {
	if ($i === 5000)
		$before = memory_get_usage();
	eval('strrev("y");');
	include $file;
}
$grown = memory_get_usage() - $before;
check($grown < 500000, "a thousand includes have taken $grown bytes for good");
$calls = array_column($trace->stop()->getFunctions(), 'calls', 'name');
check($calls['strrev'] === 12000, "strrev: $calls[strrev]");
unlink($file);
echo "done\n";
?>
--EXPECT--
done
