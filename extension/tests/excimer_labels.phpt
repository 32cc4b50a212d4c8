--TEST--
excimer: callbacks are not called while labels change, so exceptions lose no labels and no fiber is left half switched
--INI--
strobe.compat=excimer
strobe.mode=sample
strobe.period=0.001
strobe.socket=/nonexistent/s
--FILE--
<?php
// Long enough without a safe point that a tick waits for most changes.
$line = str_repeat('$x = ($x * 3 + 7) % 1000003; ', 200);
eval("function labeled() { \$x = 1; $line Strobe\\with_labels(['job' => '1'], fn() => 1); }");
eval("function unit() { \$x = 1; $line Strobe\\Unit::run('unit', fn() => 1); }");
eval("function steps() { \$x = 1; for (;;) { $line Fiber::suspend(17); } }");

$timer = new ExcimerTimer;
$timer->setPeriod(0.0002);
$timer->setCallback(fn() => throw new LogicException);
foreach (['labeled', 'unit'] as $f) {
	$thrown = $wrong = 0;
	for ($end = microtime(true) + 0.3; $thrown < 20 || microtime(true) < $end;) {
		try {
			for ($timer->start();;)
				$f();
		} catch (LogicException) {
			$timer->stop();
			$thrown++;
		}
		$labels = Strobe\labels();
		$wrong += isset($labels['job']) || $labels['entry'] === 'unit';
	}
	if ($wrong)
		echo "NOT TRUE: after $wrong of $thrown exceptions a label of $f() still holds\n";
}

// The fiber that runs, as the callback sees it: one that is left has no stack below it.
$rootless = $called = 0;
$timer->setCallback(function () use (&$called, &$rootless) {
	$called++;
	$functions = array_column(debug_backtrace(), 'function');
	$rootless += in_array('steps', $functions, true) && !in_array('resume', $functions, true);
});
$fiber = new Fiber(fn() => Strobe\with_labels(['job' => '1'], 'steps'));
$fiber->start();
$timer->start();
for ($end = microtime(true) + 0.3; $called < 20 || microtime(true) < $end;)
	if ($fiber->resume() !== 17)
		echo "NOT TRUE: a value is lost\n";
$timer->stop();
if ($rootless)
	echo "NOT TRUE: $rootless of $called calls were in the midst of a switch\n";
echo "done\n";
?>
--EXPECT--
done
