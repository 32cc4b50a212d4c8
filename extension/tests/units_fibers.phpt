--TEST--
A unit started in a fiber belongs to that fiber: labels, samples and the trace; a fiber started in a unit belongs to the unit
--EXTENSIONS--
sockets
--FILE--
<?php
require __DIR__ . '/strobe.inc';

$ini = ['strobe.instrument' => '1'];

// Two jobs that take turns.
$run = profile('<?php ' . BUSY . '
function workA() { busy(0.03); inner(); } function workB() { busy(0.03); inner(); } function inner() { return strrev("x"); }
function between() { busy(0.005); }
function turn($f) { Fiber::suspend(); $f(); }
function job($name, $f) {
	$unit = Strobe\Unit::begin($name, ["side" => $name], ["trace" => true]);
	$f();
	for ($i = 0; $i < 9; $i++) turn($f);
	$unit->end();
	between();
}
$a = new Fiber(fn() => job("A", "workA"));
$b = new Fiber(fn() => Strobe\with_labels(["side" => "outer"], fn() => job("B", "workB")));
$other = new Fiber(function () { for (;;) { between(); Fiber::suspend(); } });
foreach ([$a, $b, $other] as $f) $f->start();
while (!$a->isTerminated()) { $a->resume(); between(); $b->resume(); $other->resume(); echo Strobe\labels()["side"] ?? "-"; }
', $ini);
check($run->stdout === str_repeat('-', 9), $run->stdout . $run->stderr);
$sums = [];
foreach ($run->sampled() as $m)
	foreach ($m['stacks'] as [$path, $n])
		foreach (array_intersect(['workA', 'workB', 'between'], $path) as $f)
			$sums[$f][$m['labels']['side'] ?? '-'] = ($sums[$f][$m['labels']['side'] ?? '-'] ?? 0) + $n;
foreach (['workA' => 'A', 'workB' => 'B'] as $f => $side)
	check(($sums[$f][$side] ?? 0) > 50 && ($sums[$f][$side] ?? 0) >= 0.97 * array_sum($sums[$f]), "$f: " . json_encode($sums));
check(($sums['between']['-'] ?? 0) > 50 && ($sums['between']['A'] ?? 0) + ($sums['between']['B'] ?? 0) < 5, json_encode($sums));
$runs = [];
foreach ($run->runs() as $m)
	$runs[$m['labels']['entry']] = $m;
ksort($runs);
check(array_keys($runs) === ['A', 'B'], json_encode(array_keys($runs)));
foreach ($runs as $name => $m) {
	$calls = run_calls($m);
	$tree = run_tree($m);
	check($calls["work$name"] === 10 && $calls['inner'] === 10 && $calls['turn'] === 9 && $calls['strrev'] === 10, "$name: " . json_encode($calls));
	check(!array_intersect(array_keys($calls), [$name === 'A' ? 'workB' : 'workA', 'between', 'Fiber::resume', 'job']), "$name sees itself alone: " . json_encode($calls));
	check(($tree["main();turn;work$name;inner"]['calls'] ?? 0) === 9 && ($tree["main();work$name;inner"]['calls'] ?? 0) === 1, "$name: the same paths before and after: " . json_encode(array_keys($tree)));
	$work = array_sum(array_column(array_filter($tree, fn($path) => str_ends_with($path, ";work$name"), ARRAY_FILTER_USE_KEY), 'wall_ns'));
	check($work >= 299e6 && abs($tree['main()']['wall_ns'] - $work) < 100e6, "$name: time of its own: {$tree['main()']['wall_ns']}, of $work");
}

// Started inside: as long as the unit lasts. Resumed inside, but started before: not.
$run = profile('<?php
function side() { return Strobe\labels()["side"] ?? "-"; }
$before = new Fiber(function () { for (;;) { echo side(); Fiber::suspend(); } });
$before->start();
$unit = Strobe\Unit::begin("u", ["side" => "U"]);
$inside = new Fiber(function () { echo side(); Strobe\add_label("side", "changed"); Fiber::suspend(); echo side(); Fiber::suspend(); echo side(); Fiber::suspend(); });
$inside->start(); $before->resume(); echo side(); $inside->resume();
$unit->end();
echo " "; $inside->resume(); $before->resume(); echo side();
unset($inside); gc_collect_cycles();
// Ended in another fiber than it was begun in, and in one that has ended.
$f = new Fiber(function () { $GLOBALS["v"] = Strobe\Unit::begin("v", ["side" => "V"]); echo " ", side(); Fiber::suspend(); echo side(); });
$f->start(); echo side(); $v->end(); $f->resume(); echo side();
$f = new Fiber(function () { $GLOBALS["w"] = Strobe\Unit::begin("w", ["side" => "W"]); echo " ", side(); });
$f->start(); echo side(); unset($f); $w->end(); echo side();
// Destroyed in the midst of it.
$f = new Fiber(fn() => Strobe\with_labels(["side" => "X"], function () { try { Fiber::suspend(); } finally { echo " ", side(); } }));
$f->start(); unset($f); echo side();
// Inside each other, with generators, and thrown into.
$f = new Fiber(function () {
	Strobe\with_labels(["side" => 1], function () {
		$g = new Fiber(fn() => Strobe\with_labels(["side" => 2], function () { Fiber::suspend(); echo side(); throw new Exception; }));
		$g->start(); echo side(); Fiber::suspend(); echo side();
		try { $g->resume(); } catch (Exception) { echo side(); }
	});
	echo side();
});
echo " "; $f->start(); echo side(); $f->resume(); echo side();
', ['strobe.mode' => 'off']);
check($run->stdout === '-U-changedchanged --- V--- W-- X- 1-121--', $run->stdout . $run->stderr);

// Many fibers, each with labels of its own, some never finished.
$run = profile('<?php
for ($i = 0; $i < 2000; $i++) {
	$f = $fibers[$i] = new Fiber(function () use ($i) {
		Strobe\with_labels(["n" => $i], function () use ($i) {
			$u = Strobe\Unit::begin("u$i", [], ["sample" => $i % 2 === 0]);
			for ($k = 0; $k < 5; $k++) { Fiber::suspend(); if (Strobe\labels()["n"] !== (string)$i) echo "wrong $i\n"; }
		});
	});
	$f->start();
}
for ($k = 0; $k < 5; $k++)
	foreach ($fibers as $i => $f)
		if ($i % 10 || $k < 2)
			$f->resume();
echo Strobe\labels()["n"] ?? "-", "ok";
');
check($run->stdout === '-ok' && $run->status === 0, substr($run->stdout, 0, 300) . $run->stderr);
// When a switch changes the labels, samples due by then have the whole stack of the fiber that is left, at any depth of fibers.
$run = profile('<?php
function spin($n) { for ($i = 0; $i < $n; $i++) $x = $i * 3; }
function job($name, $f) { return new Fiber(fn() => Strobe\with_labels(["job" => $name], $f)); }
$inner = job("inner", function () { for (;;) { spin(500); Fiber::suspend(); } });
$outer = job("outer", function () use ($inner) { $inner->start(); for (;;) { spin(500); $inner->resume(); Fiber::suspend(); } });
$outer->start();
for ($end = hrtime(true) + 5e8; hrtime(true) < $end;) $outer->resume();
unset($outer, $inner);
', ['strobe.period' => '0.0001']);
check($run->samples() > 1000, 'samples: ' . $run->samples());
foreach ($run->stacks() as $stack => $n)
	check(preg_match('~^[^;{]*/script\.php(;|$)~', $stack) === 1, "a stack without root, $n samples: $stack");

echo "done\n";
?>
--EXPECT--
done
