--TEST--
A fiber that outlives its unit keeps its own labels, attributes and trace, and loses those of the unit
--EXTENSIONS--
sockets
--FILE--
<?php
require __DIR__ . '/strobe.inc';

$ini = ['strobe.instrument' => '1', 'strobe.mode' => 'off', 'strobe.labels' => 'entry=e'];

// Jobs that are started by another unit and outlive it: what that one gave them goes with it, and nothing else.
$run = profile('<?php use Strobe\Unit;
function say() { $l = Strobe\labels(); unset($l["sapi"], $l["host"]); ksort($l); return json_encode($l) . (Strobe\is_tracing() ? " traced" : "") . "\n"; }
Strobe\add_label("deploy", "7");
function job($name) {
	$unit = Unit::begin($name, ["tenant" => $name, "app" => "x"], ["trace" => true]);
	Fiber::suspend();
	Strobe\add_label("step", "2");
	Strobe\set_attribute("job", $name);
	echo "job: ", say();
	Strobe\with_labels(["part" => "p"], function () { Fiber::suspend(); Strobe\set_entry("renamed"); echo "part: ", say(); });
	$unit->end();
	echo "job has ended: ", say();
}
Unit::run("boot", function () use (&$jobs) {
	Strobe\with_labels(["phase" => "boot", "deploy" => "8"], function () use (&$jobs) {
		foreach (["a", "b"] as $j) { $jobs[$j] = new Fiber(job(...)); $jobs[$j]->start($j); }
		$jobs["c"] = new Fiber(function () {
			Strobe\with_labels(["own" => "o"], function () { echo "plain: ", say(); Fiber::suspend(); echo "plain: ", say(); });
			echo "plain: ", say();
		});
		$jobs["c"]->start();
	});
}, ["app" => "x", "phase" => "before"]);
echo "between: ", say();
$jobs["a"]->resume(); $jobs["c"]->resume(); echo "main: ", say(); $jobs["a"]->resume(); echo "main: ", say();
// A unit that is begun while the one around it runs, in the same fiber, ends with that.
$outer = Unit::begin("outer"); $inner = Unit::begin("inner", ["in" => "i"]); $outer->end(); echo "main: ", say(); $inner->end(); echo "main: ", say();
$jobs["b"]->resume(); unset($jobs); gc_collect_cycles(); echo "main: ", say();
', $ini);
$main = '{"deploy":"7","entry":"e"}';
check($run->stdout === 'plain: {"app":"x","deploy":"8","entry":"boot","own":"o","phase":"boot"}
between: ' . $main . '
job: {"app":"x","deploy":"7","entry":"a","step":"2","tenant":"a"} traced
plain: {"deploy":"7","entry":"e","own":"o"}
plain: ' . $main . '
main: ' . $main . '
part: {"app":"x","deploy":"7","entry":"renamed","part":"p","step":"2","tenant":"a"} traced
job has ended: ' . $main . '
main: ' . $main . '
main: ' . $main . '
main: ' . $main . '
job: {"app":"x","deploy":"7","entry":"b","step":"2","tenant":"b"} traced
main: ' . $main . "\n", $run->stdout . $run->stderr);
$attributes = array_map(fn($m) => $m['labels']['job'] ?? null, $run->runs());
sort($attributes);
check($attributes === ['a', 'b'], 'attributes: ' . json_encode(array_column($run->runs(), 'labels')));

// Units that are left open end with the outermost one, and whatever they gave goes.
$tags = 'use Strobe\Unit; function k($k) { return Strobe\labels()[$k] ?? "-"; }
';
$run = profile("<?php $tags" . '
$a = Unit::begin("a"); $b = Unit::begin("b", ["tenant" => "B"]); $c = Unit::begin("c");
$f = new Fiber(function () { $job = Unit::begin("job"); echo k("tenant"); Fiber::suspend(); echo k("tenant"); });
$f->start();
$a->end();
$f->resume();
echo k("entry"), " ";

// A label that was removed from the unit is not a job\'s own, either.
$u = Unit::begin("outer", ["t" => "T"]);
$f = new Fiber(function () { $job = Unit::begin("job"); Fiber::suspend(); echo k("t"); });
$f->start();
Strobe\remove_label("t");
$u->end();
$f->resume();
echo " ";

// The entry is that of the unit in all its fibers, and ends with it.
$u = Unit::begin("outer");
$f = new Fiber(fn() => Strobe\with_labels(["own" => "o"], function () { Fiber::suspend(); echo k("entry"); Strobe\set_entry("other"); Fiber::suspend(); echo k("entry"), k("own"); }));
$f->start();
Strobe\set_entry("route");
$f->resume();
echo k("entry");
$u->end();
$f->resume();
', $ini);
check($run->stdout === 'B-e - routeothereo', $run->stdout . $run->stderr);

// However a fiber ends that has not finished its unit, that is unfinished.
$run = profile("<?php $tags" . '
function begun() { $u = Unit::begin("begun", [], ["trace" => true]); Fiber::suspend(); $u->end(); }
function running() { Unit::run("run", fn() => Fiber::suspend(), [], ["trace" => true]); }
foreach (["begun", "running"] as $f) { $f = new Fiber($f); $f->start(); unset($f); }
foreach (["begun", "running"] as $f) { $kept[] = $f = new Fiber($f); $f->start(); }
', $ini);
$found = array_map(fn($m) => $m['labels']['entry'] . ($m['labels']['unfinished'] ?? ''), $run->runs());
sort($found);
check($found === ['begun1', 'begun1', 'run1', 'run1'], json_encode($found) . $run->stderr);
echo "done\n";
?>
--EXPECT--
done
