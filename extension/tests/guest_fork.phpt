--TEST--
A traced program forks: parent, child and grandchild each have their own trace with correct times
--EXTENSIONS--
sockets
pcntl
--FILE--
<?php
require __DIR__ . '/guest.inc';

$code = <<<'PHP'
<?php
function busy(float $seconds): int
{
	for ($n = 0, $end = $seconds + cpu(); cpu() < $end; $n++)
		for ($i = 0; $i < 1000; $i++);
	return $n;
}
function cpu(): float { $u = getrusage(); return $u['ru_utime.tv_sec'] + $u['ru_stime.tv_sec'] + ($u['ru_utime.tv_usec'] + $u['ru_stime.tv_usec']) / 1e6; }
function before() { busy(0.1); }
function in_parent() { busy(0.05); }
function in_child() { busy(0.05); usleep(50000); }
function in_grandchild() { busy(0.05); }
function tell(string $who): void
{
	$edges = tideways_xhprof_disable();
	$functions = [];
	foreach ($edges as $edge => $values)
		$functions[preg_replace('/^.*==>/', '', $edge)] = $values;
	echo json_encode([$who => $functions]), "\n";
}
function grandchild() { in_grandchild(); }
function child()
{
	in_child();
	if (!($pid = pcntl_fork())) {
		grandchild();
		tell('grandchild');
		exit(7);
	}
	pcntl_waitpid($pid, $status);
	tell('child');
	exit(pcntl_wexitstatus($status) + 1);
}
tideways_xhprof_enable(TIDEWAYS_XHPROF_FLAGS_CPU | TIDEWAYS_XHPROF_FLAGS_MEMORY);
before();
if (!($pid = pcntl_fork()))
	child();
in_parent();
pcntl_waitpid($pid, $status);
tell('parent');
// And from the beginning, in children that trace only themselves, some of which end in the midst.
for ($i = 0; $i < 20; $i++)
	if (!pcntl_fork()) {
		if ($i % 2)
			tideways_xhprof_enable(TIDEWAYS_XHPROF_FLAGS_CPU);
		in_parent();
		if ($i % 4 == 1)
			exit(isset(tideways_xhprof_disable()['main()==>in_parent']) ? 0 : 1);
		exit(0);
	}
for ($failed = 0; pcntl_wait($s) > 0;)
	$failed += $s !== 0;
tideways_xhprof_enable();
in_parent();
echo json_encode(['later' => [$failed, isset(tideways_xhprof_disable()['main()==>in_parent']), pcntl_wexitstatus($status)]]), "\n";
PHP;
$run = profile($code, ['strobe.mode' => 'off', 'strobe.compat' => 'tideways_xhprof']);
check($run->status === 0 && $run->stderr === '', "the program ends well: $run->status $run->stderr");
$told = [];
foreach (explode("\n", trim($run->stdout)) as $line)
	$told += json_decode($line, true) ?? [$line => null];
check(array_keys($told) == ['grandchild', 'child', 'parent', 'later'], "everybody tells: $run->stdout");
check($told['later'] === [0, true, 8], 'children that trace themselves end well, and so does the child: ' . json_encode($told['later']));
foreach (['parent' => ['in_parent', ['in_child', 'in_grandchild']], 'child' => ['in_child', ['in_parent', 'in_grandchild']],
		'grandchild' => ['in_grandchild', ['in_parent']]] as $who => [$own, $others]) {
	$f = $told[$who];
	foreach ($others as $other)
		check(!isset($f[$other]), "$other is not in the trace of the $who");
	check(($f[$own]['ct'] ?? 0) === 1, "$own was called once by the $who: " . json_encode($f[$own] ?? null));
	check(abs($f[$own]['cpu'] - 50000) < 12000, "$who: $own took 50 ms of CPU: " . $f[$own]['cpu']);
	check($f[$own]['wt'] >= $f[$own]['cpu'] - 1000, "$who: and no less time: " . json_encode($f[$own]));
	check($f['main()']['cpu'] >= 49000 && $f['main()']['cpu'] <= $f['main()']['wt'] + 1000, "$who: main() adds up: " . json_encode($f['main()']));
}
check($told['child']['in_child']['wt'] - $told['child']['in_child']['cpu'] >= 49000, 'sleeping is no CPU time: ' . json_encode($told['child']['in_child']));
check($told['parent']['before']['ct'] === 1 && abs($told['parent']['before']['cpu'] - 100000) < 12000, 'the parent knows what was before');
echo "done\n";
?>
--EXPECT--
done
