--TEST--
Functions indistinguishable to a reader are one node per caller, however often PHP creates them and however many sessions trace them
--EXTENSIONS--
sockets
--FILE--
<?php
require __DIR__ . '/strobe.inc';

$program = <<<'PHP'
<?php
file_put_contents(__DIR__ . '/part.php', '<?php inner(); return function () { return inner(); };');
function inner() { return strrev('x'); }
function call($f) { return $f(); }
class First extends ArrayObject {}
class Second extends ArrayObject {}
function work()
{
	for ($i = 0; $i < 3; $i++) {
		(include __DIR__ . '/part.php')();	/* compiled each time: three closures on one line */
		eval('inner();');
		foreach ([new First(), new Second()] as $o)
			call([$o, 'count']);
	}
	for ($i = 0; $i < 4200; $i++)			/* more than are kept alive: the last ones have no key of their own */
		eval('call(function () { return inner(); });');
	inner();
}
if ($argv[1] === 'nested')
	$outer = Strobe\Trace::start(Strobe\WALL);
work();
work();
if ($argv[1] === 'twice')
	Strobe\Trace::start(Strobe\WALL)->stop();
work();
PHP;

$ini = ['strobe.mode' => 'off', 'strobe.trace_rate' => '1', 'opcache.enable_cli' => '0'];
foreach (['alone', 'twice', 'nested'] as $how) {
	$run = profile($program, $ini, [$how]);
	$m = $run->runs()[0] ?? null;
	check($m !== null, "$how: a run: $run->stdout$run->stderr");
	$seen = [];
	foreach ($m['nodes'] as $n) {
		$place = "$n[parent] $n[frame]";
		check(!isset($seen[$place]), "$how: $n[name] is below its caller twice");
		$seen[$place] = true;
	}
	$calls = run_calls($m);
	check($calls['work'] === 3 && $calls['inner'] === 3 * (3 * 3 + 4200 + 1) && $calls['strrev'] === $calls['inner'], "$how: " . json_encode($calls));
	check($calls['call'] === 3 * (2 * 3 + 4200) && $calls['ArrayObject::count'] === 3 * 2 * 3, "$how: " . json_encode($calls));
	check(count(array_filter($m['nodes'], fn($n) => $n['name'] === 'work')) === 1, "$how: one node for work()");
}
echo "done\n";
?>
--EXPECT--
done
