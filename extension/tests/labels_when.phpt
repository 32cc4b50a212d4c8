--TEST--
Samples have the labels in effect when they are taken: changed, removed, scoped, any number of times a second
--EXTENSIONS--
sockets
--FILE--
<?php
require __DIR__ . '/strobe.inc';

/* Samples by the value of a label ("-": none) and by the function that they are of. */
function by_label(Run $run, string $key, array $functions): array
{
	$sums = [];
	foreach ($run->sampled() as $m)
		foreach ($m['stacks'] as [$path, $samples])
			foreach (array_intersect($functions, $path) as $f) {
				$value = $m['labels'][$key] ?? '-';
				$sums[$value][$f] = ($sums[$value][$f] ?? 0) + $samples;
			}
	return $sums;
}

/* Share of the samples of a function that have the label which is its own. */
function right(array $sums, string $label, string $function): float
{
	return ($sums[$label][$function] ?? 0) / max(1, array_sum(array_column($sums, $function)));
}

// A label that comes late marks what comes after it, not what was before in the same second.
$run = profile('<?php ' . DOZE . '
function early() { doze(0.4); }
function late() { doze(0.3); }
early();
Strobe\add_label("phase", "late");
late();
', ['strobe.flush' => '60']);
$sums = by_label($run, 'phase', ['early', 'late']);
check(right($sums, '-', 'early') > 0.98 && right($sums, 'late', 'late') > 0.98, 'late: ' . json_encode($sums));
check(count($run->messages) === 2, count($run->messages) . ' messages, one for each set of labels');

// Jobs that alternate.
$run = profile('<?php ' . BUSY . '
function jobA() { usleep(40000); }
function jobB() { busy(0.04); }
for ($i = 0; $i < 20; $i++) {
	if ($i % 2) { Strobe\add_label("route", "B"); jobB(); } else { Strobe\add_label("route", "A"); jobA(); }
}', ['strobe.flush' => '60']);
$sums = by_label($run, 'route', ['jobA', 'jobB']);
check(right($sums, 'A', 'jobA') > 0.97 && right($sums, 'B', 'jobB') > 0.97, 'alternating: ' . json_encode($sums));
/* The ticking thread finds a processor sooner while the program sleeps: on a busy machine A has some of B's time. A period that is noticed
 * only after its job has the label of the job, and not its function. */
$all = array_sum(array_map(fn($m) => array_sum(array_column($m['stacks'], 1)), $run->messages));
check($all > 700 && min(array_sum($sums['A']), array_sum($sums['B'])) > 150, "nothing is missing of $all: " . json_encode($sums));
check(count($run->messages) <= 3, count($run->messages) . ' messages, one for each set of labels');

// More than 10,000 changes a second where the machine has time: no message for any of them, and every function under its own label.
$wrong = function (Run $run): array {
	$sums = by_label($run, 'parity', ['even', 'odd']);
	check(count($run->messages) <= 3 * $run->connections, count($run->messages) . " messages for $run->stdout changes");
	return right($sums, 'even', 'even') > 0.9 && right($sums, 'odd', 'odd') > 0.9 ? [] : ['fast: ' . json_encode($sums)];
};
profile_until($wrong, '<?php
function even() { for ($s = 0, $i = 0; $i < 1500; $i++) $s += $i & 3; return $s; }
function odd() { for ($s = 0, $i = 0; $i < 1500; $i++) $s += $i & 7; return $s; }
for ($end = microtime(true) + 0.5, $n = 0; $n < 10000 || microtime(true) < $end; $n += 2) {
	Strobe\add_label("parity", "even");
	even();
	Strobe\with_labels(["parity" => "odd"], "odd");
}
echo $n;
', ['strobe.flush' => '60']);

// Removed: what the configuration says of the key holds again.
$run = profile('<?php
Strobe\add_label("pool", "mine");
Strobe\add_label("x", "1");
echo Strobe\labels()["pool"], Strobe\labels()["x"], "\n";
var_dump(Strobe\remove_label("pool"), Strobe\remove_label("x"), Strobe\remove_label("x"), Strobe\remove_label("host"), Strobe\remove_label(""));
echo Strobe\labels()["pool"], isset(Strobe\labels()["x"]) ? " x" : "", "\n";
', ['strobe.labels' => 'pool=api', 'strobe.mode' => 'off']);
echo $run->stdout;

// Scoped: the value comes back, also when it throws or is called in it; a label set inside ends with it.
$run = profile('<?php
function show() { $l = Strobe\labels(); return ($l["a"] ?? "-") . ($l["b"] ?? "-") . ($l["c"] ?? "-"); }
Strobe\add_label("a", "1");
echo Strobe\with_labels(["a" => 2, "b" => true], function () {
	Strobe\add_label("c", "3");
	Strobe\remove_label("a");
	return show() . " " . Strobe\with_labels(["b" => null, "a" => 1.5], fn() => show()) . " " . show();
}), " ", show(), "\n";
try {
	Strobe\with_labels(["b" => 1], function () { throw new LogicException(show()); });
} catch (LogicException $e) {
	echo $e->getMessage(), " ", show(), "\n";
}
$r = [1, 2];
function &reference() { global $r; return $r; }
$x = Strobe\with_labels([], "reference");
$x[] = 3;
echo count($r), count($x), json_encode(Strobe\with_labels([], fn() => null)), "\n";
function gen() { $x = yield 1; echo $x, show(), "\n"; }
$g = Strobe\with_labels(["b" => "gen"], "gen");
$g->current(); $g->send("sent ");
foreach ([["host" => 1], ["a-b" => 1], ["a" => []], [1], ["x" => new stdClass], array_fill_keys(array_map(fn($i) => "l$i", range(1, 40)), 1)] as $labels)
	try {
		Strobe\with_labels($labels, fn() => print("called\n"));
	} catch (Throwable $e) {
		echo get_class($e), ": ", $e->getMessage(), "\n";
	}
function deep(int $n): string { return $n ? Strobe\with_labels(["a" => $n % 10], fn() => deep($n - 1)) : show(); }
echo deep(3000), " ", show(), "\n";
register_shutdown_function(fn() => print("shutdown " . show() . "\n"));
Strobe\with_labels(["b" => "exit"], fn() => exit(show() . "\n"));
', ['strobe.mode' => 'off']);
echo $run->stdout, $run->stderr;

// More sets of labels than there is room for are sent early, none is lost; each is a series of its own.
$run = profile('<?php ' . DOZE . '
for ($i = 0; $i < 200; $i++)
	Strobe\with_labels(["n" => $i], fn() => doze(0.004));
');
$values = array_filter(array_unique(array_map(fn($m) => $m['labels']['n'] ?? null, $run->messages)), fn($v) => $v !== null);
check(count($values) > 180, count($values) . ' of 200 sets were seen');
check($run->samples() > 600 && !array_filter(array_column($run->messages, 'drops')), $run->samples() . ' samples');

// Many sets with large trees at once do not fill the socket: nothing is lost though nobody reads it meanwhile.
$code = '<?php ' . DOZE . "\n";
for ($i = 0; $i < 400; $i++)
	$code .= "function a_function_with_a_name_that_takes_room_in_a_message_$i() { doze(0.0015); }\n";
$run = profile($code . '
for ($i = 0; $i < 600; $i++)
	Strobe\with_labels(["n" => $i % 40], "a_function_with_a_name_that_takes_room_in_a_message_" . ($i * 7 % 400));
', ['strobe.period' => '0.0002'], [], null, null);
$drops = array_filter(array_column($run->messages, 'drops'));
check(!$drops && count($run->messages) >= 40, count($run->messages) . ' messages, lost: ' . json_encode($drops));

// A stack that is too deep to be walked to its root is not put below the root half of another set.
$run = profile('<?php ' . DOZE . '
function in_a(int $n) { return $n ? in_a($n - 1) : Strobe\with_labels(["k" => "a"], fn() => doze(0.15)); }
function in_b(int $n) { return $n ? in_b($n - 1) : Strobe\with_labels(["k" => "b"], fn() => doze(0.15)); }
function root_a() { in_a(40000); }
function root_b() { in_b(40000); }
root_a(); root_b();
', ['strobe.max_depth' => '16', 'memory_limit' => '1G']);
foreach ($run->messages as $m)
	foreach ($m['stacks'] as [$path]) {
		$k = $m['labels']['k'] ?? null;
		if ($k !== null)
			check(in_array("root_$k", $path, true), "$k: " . implode(';', $path));
	}
echo "done\n";
?>
--EXPECT--
mine1
bool(true)
bool(true)
bool(false)
bool(false)
bool(false)
api
-true3 1.53 -true3 1--
11- 1--
23null
sent 1--
ValueError: Strobe\with_labels(): Argument #1 ($labels) must not have the key "host", which strobe sets itself
ValueError: Strobe\with_labels(): Argument #1 ($labels) must have keys of 1 to 64 letters, digits and "_", not beginning with a digit
TypeError: Strobe\with_labels(): Argument #1 ($labels) must have strings as values, array given
ValueError: Strobe\with_labels(): Argument #1 ($labels) must have keys of 1 to 64 letters, digits and "_", not beginning with a digit
TypeError: Strobe\with_labels(): Argument #1 ($labels) must have strings as values, stdClass given
Strobe\Exception: The limit of 32 labels is reached
1-- 1--
1exit-
shutdown 1--
done
