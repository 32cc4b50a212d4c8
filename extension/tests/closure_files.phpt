--TEST--
Closures on one line stay distinct when their source is missing or large, in samples and traces
--EXTENSIONS--
sockets
--FILE--
<?php
require __DIR__ . '/strobe.inc';

$receiver = new Receiver();
$script = "$receiver->directory/script.php";
$included = "$receiver->directory/included.php";
// The first of each line is called last.
file_put_contents($included, '<?php
return [fn() => doze(0.06), fn() => doze(0.06),
	function () { doze(0.06); return [fn() => doze(0.06), fn() => doze(0.06)]; }];');
$program = '<?php
function load(string $file) { return require $file; }
function deep(int $n, callable $f) { if ($n) deep($n - 1, $f); else $f(); }
$all = load("' . $included . '"); $all[1](); $all[0]();
$inner = $all[2](); $all = null; $inner[1](); $inner[0]();
$eval = eval("return [fn() => doze(0.06), fn() => doze(0.06)];"); $eval[1](); $eval[0]();
$here = [fn() => doze(0.06), fn() => doze(0.06)]; deep(100, $here[1]); $here[0]();
function nested() { return fn() => [doze(0.06), (fn() => doze(0.06))()]; } nested()();
(new Fiber(fn() => [(fn() => doze(0.06))(), (fn() => doze(0.06))()]))->start();
register_shutdown_function(fn() => [(fn() => doze(0.06))(), (fn() => doze(0.06))()]);
class Other {}
(Closure::bind(load("' . $included . '")[1], new Other, Other::class))();
' . DOZE;
$expected = [];
foreach (["$included(2)", "$included(2)#2", "$included(3)", "$included(3)#2", "$included(3)#3", "$script(6) : eval()'d code(1)",
	  "$script(6) : eval()'d code(1)#2", "$script(7)", "$script(7)#2", "$script(8)", "$script(8)#2",
	  "$script(9)", "$script(9)#2", "$script(9)#3", "$script(10)", "$script(10)#2", "$script(10)#3"] as $place)
	$expected[] = "{closure:$place}";
$names = function (array $all): array {
	$found = array_values(array_unique(preg_grep('/closure/', $all)));
	sort($found);
	return $found;
};
$expected = $names($expected);

foreach ([[], ['zend_extension' => 'opcache', 'opcache.enable_cli' => '1']] as $cached => $settings) {
	$found = [];
	// On a busy machine ticks may come so late that a function has ended before one comes: it has three chances.
	for ($try = 0; $try < 3 && $found != $expected; $try++)
		$found = $names([...$found, ...array_keys(profile($program, $settings, [], $receiver)->frames())]);
	check($found == $expected, "samples, opcache $cached: " . json_encode($found));

	$run = profile($program, ['strobe.mode' => 'off', 'strobe.trace_rate' => '1', ...$settings], [], $receiver);
	$found = $names(array_column($run->runs()[0]['nodes'], 'name'));
	check($found == $expected, "a trace, opcache $cached: " . json_encode($found));
}
echo "done\n";
?>
--EXPECT--
done
