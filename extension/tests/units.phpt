--TEST--
Strobe\Unit: labels, sampling and traces of jobs in one request; nested, failed, abandoned and unfinished units
--EXTENSIONS--
sockets
--FILE--
<?php
require __DIR__ . '/strobe.inc';

$observed = ['strobe.instrument' => '1'];

function entries(Run $run): array
{
	$sums = [];
	foreach ($run->sampled() as $m)
		$sums[$m['labels']['entry']] = ($sums[$m['labels']['entry']] ?? 0) + array_sum(array_column($m['stacks'], 1));
	ksort($sums);
	return $sums;
}

// Samples: a unit has its own, they are sent when it ends, and the loop's are those of the request.
$times = [];
$run = profile('<?php ' . DOZE . '
$ms = [];
function took(string $name): void { global $ms; static $since; $now = hrtime(true) / 1e6; $ms[$name] = ($ms[$name] ?? 0) + $now - ($since ?? $now); $since = $now; }
Strobe\add_label("queue", "q1");
took("script");
$unit = Strobe\Unit::begin("job.mail", ["tries" => 2]);
doze(0.4); took("job.mail");
Strobe\set_entry("job.mail.big");
doze(0.4); took("job.mail.big");
$unit->end();
$unit->end();
usleep(300000); took("script");
echo Strobe\Unit::run("job.image", function () { doze(0.4); took("job.image"); return json_encode(Strobe\labels()); }), "\n";
doze(0.4); took("script");
echo json_encode([Strobe\is_sampling(), $unit->isRunning(), Strobe\labels()["tries"] ?? null]), "\n", json_encode($ms);
', [], [], null, function (Receiver $r) use (&$times) {
	foreach ($r->messages as $m)
		$times[$m['labels']['entry']] ??= $m['end'];
});
$sums = entries($run);
check(array_keys($sums) === ['job.image', 'job.mail', 'job.mail.big', 'script'], json_encode($sums));
[$labels, $state, $took] = explode("\n", $run->stdout);
foreach (json_decode($took, true) as $name => $ms)
	check(abs($sums[$name] - $ms) < 100 + $ms * 0.05, "$name: $sums[$name] samples of $ms");
check($times['job.image'] - $times['job.mail'] > 250e6 && $times['job.mail'] === $times['job.mail.big'], 'each is sent when it ends: ' . json_encode($times));
foreach ($run->messages as $m)
	check(($m['labels']['queue'] ?? ($m['labels']['entry'] === 'script' ? 'q1' : null)) === 'q1' && ($m['labels']['tries'] ?? null) === (str_starts_with($m['labels']['entry'], 'job.mail') ? '2' : null), json_encode($m['labels']));
check(json_decode($labels, true)['entry'] === 'job.image' && $state === '[true,false,null]', $run->stdout);

// The decision whether a unit is sampled is its own, in a request that is and in one that is not.
foreach (['0', '1'] as $rate) {
	$run = profile('<?php ' . DOZE . '
	function show() { return Strobe\is_sampling() ? "yes" : "no"; }
	doze(0.05);
	Strobe\Unit::run("taken", function () { echo show(); doze(0.1); Strobe\Unit::run("left_out_inside", function () { echo show(); doze(0.05); }, [], ["sample" => false]); doze(0.05); }, [], ["sample" => true]);
	Strobe\Unit::run("left_out", function () { echo show(); doze(0.1); }, [], ["sample" => false]);
	Strobe\Unit::run("by_rate", function () { echo show(); doze(0.05); });
	echo show();
	', ['strobe.request_rate' => $rate]);
	check($run->stdout === ($rate ? 'yesnonoyesyes' : 'yesnononono'), "rate $rate: $run->stdout");
	$sums = entries($run);
	check(array_keys($sums) === ($rate ? ['by_rate', 'script', 'taken'] : ['taken']), "rate $rate: " . json_encode($sums));
	check($sums['taken'] > 120, "rate $rate: " . json_encode($sums));
}
$run = profile('<?php for ($i = 0; $i < 400; $i++) Strobe\Unit::run("u", fn() => $GLOBALS["n"] = ($GLOBALS["n"] ?? 0) + Strobe\is_sampling()); echo $n;', ['strobe.request_rate' => '0.25']);
check($run->stdout > 60 && $run->stdout < 140, "a share of them: $run->stdout");
$run = profile('<?php Strobe\Unit::run("u", fn() => print(json_encode(Strobe\is_sampling())), [], ["sample" => true]);', ['strobe.mode' => 'off']);
check($run->stdout === 'false' && !$run->messages, 'nothing is sampled with strobe.mode=off');

// Traces: each unit that is traced becomes a run, with its name, labels and attributes; the request's own goes on beside.
$run = profile('<?php
function job($n) { return str_repeat("x", $n); }
Strobe\set_attribute("trace_id", "of the request");
foreach (["a" => true, "b" => false, "c" => true] as $name => $trace) {
	$unit = Strobe\Unit::begin("job.$name", ["shard" => "s$name"], ["trace" => $trace]);
	Strobe\set_attribute("job_id", 17);
	Strobe\set_attribute("share", 0.25);
	Strobe\set_attribute("last", true);
	echo Strobe\is_tracing() ? "traced " : "not ";
	job(5);
	$unit->end($name === "c");
}
Strobe\Unit::run("job.d", fn() => job(1));
', $observed + ['strobe.mode' => 'off']);
check($run->stdout === 'traced not traced ', $run->stdout . $run->stderr);
$runs = $run->runs();
check(array_column(array_column($runs, 'labels'), 'entry') === ['job.a', 'job.c'], json_encode(array_column($runs, 'labels')));
foreach ($runs as $i => $m) {
	$l = $m['labels'];
	check($l['source'] === 'code' && $l['job_id'] === '17' && $l['share'] === '0.25' && $l['last'] === 'true' && !isset($l['trace_id']) && !isset($l['unfinished']), json_encode($l));
	check($l['shard'] === ['sa', 'sc'][$i] && ($l['failed'] ?? '') === ['', '1'][$i], json_encode($l));
	check(run_calls($m)['job'] === 1 && isset(run_tree($m)['main();job;str_repeat']), json_encode(run_calls($m)));
}

// By rate, inside of a traced request: its run has everything, those of the units their part.
$run = profile('<?php
function job() { return strrev("x"); }
for ($i = 0; $i < 3; $i++)
	Strobe\Unit::run("job", "job");
', $observed + ['strobe.mode' => 'off', 'strobe.trace_rate' => '1']);
check(array_column(array_column($run->runs(), 'labels'), 'entry') === ['job', 'job', 'job', 'script'], 'runs of units and of the request');
check(array_map(fn($m) => run_calls($m)['job'] ?? 0, $run->runs()) === [1, 1, 1, 3], json_encode(array_map('run_calls', $run->runs())));

// Kept by what came of it.
$run = profile('<?php
function unit($name, $options, $f) { try { Strobe\Unit::run($name, $f, [], $options); } catch (Exception) {} }
foreach ([["trace" => true, "keep" => "slow:1s"], []] as $k => $options) {
	unit("fast$k", $options, fn() => 0);
	unit("slow$k", $options, fn() => usleep(1100000));
	unit("failed$k", ["keep" => "failed"] + $options, fn() => throw new Exception);
	unit("well$k", ["keep" => "slow:30s,failed"] + $options, fn() => 0);
	unit("discarded$k", ["keep" => ""] + $options, fn() => usleep(1100000) || print(Strobe\discard_trace() ? "forgotten " : "none "));
	unit("after$k", ["trace" => false], fn() => Strobe\trace_request("slow:30s,failed") && throw new Exception);
}
ob_start(); phpinfo(INFO_MODULES); preg_match("/not kept => (\d+)/", ob_get_clean(), $m); echo $m[1];
', $observed + ['strobe.mode' => 'off', 'strobe.trace_rate' => '1', 'strobe.trace_keep' => 'slow:1s']);
check($run->stdout === 'forgotten forgotten 6', $run->stdout . $run->stderr);
check(array_column(array_column($run->runs(), 'labels'), 'entry') === ['slow0', 'failed0', 'after0', 'slow1', 'failed1', 'after1', 'script'], json_encode(array_column(array_column($run->runs(), 'labels'), 'entry')));

// An object that is dropped ends its unit; one that an exception drops, or that is never ended, is marked.
$run = profile('<?php
function dropped() { $u = Strobe\Unit::begin("dropped", [], ["trace" => true]); strrev("x"); }
function thrown() { $u = Strobe\Unit::begin("thrown", [], ["trace" => true]); throw new LogicException; }
dropped();
try { thrown(); } catch (LogicException) {}
echo Strobe\labels()["entry"];
$open = Strobe\Unit::begin("open", [], ["trace" => true]);
$inner = Strobe\Unit::begin("inner", [], ["trace" => true]);
exit(" " . Strobe\labels()["entry"]);
', $observed + ['strobe.mode' => 'off']);
check($run->stdout === 'script inner', $run->stdout . $run->stderr);
$marks = [];
foreach ($run->runs() as $m)
	$marks[$m['labels']['entry']] = ($m['labels']['unfinished'] ?? '-') . ($m['labels']['failed'] ?? '-');
ksort($marks);
check($marks === ['dropped' => '--', 'inner' => '1-', 'open' => '1-', 'thrown' => '11'], json_encode($marks));

// A fatal error fails the units that it ends, and is not hindered by them: that of memory, where PHP's allocator counts it.
$deep = getenv('USE_ZEND_ALLOC') === '0' ? 'eval("class A {} class A {}")' : 'deep()';
$run = profile('<?php
function deep() { return ' . $deep . '; }
$u = Strobe\Unit::begin("fatal", [], ["trace" => true, "keep" => "failed"]);
Strobe\with_labels(["x" => 1], fn() => Strobe\Unit::run("inside", "deep", [], ["trace" => true]));
', $observed + ['strobe.mode' => 'off', 'memory_limit' => '8M']);
check($run->status === 255 && str_contains($run->stdout, 'Fatal error'), $run->stdout . $run->stderr);
$marks = array_map(fn($m) => implode(' ', [$m['labels']['entry'], $m['labels']['failed'] ?? '-', $m['labels']['unfinished'] ?? '-', $m['labels']['x'] ?? '-']), $run->runs());
sort($marks);
check($marks === ['fatal 1 1 -', 'inside 1 1 1'], json_encode(array_column($run->runs(), 'labels')));

// In each other, and ended in any order: what holds is what has not ended.
$run = profile('<?php
function entry() { return Strobe\labels()["entry"]; }
$a = Strobe\Unit::begin("a"); $b = Strobe\Unit::begin("b", ["x" => 1]); $c = Strobe\Unit::begin("c");
$b->end(); echo entry(), Strobe\labels()["x"] ?? "-";
$c->end(); echo entry();
$d = Strobe\Unit::begin("d"); $a->end(); echo " ", entry(), " ";
$d->end(); $a->end(); echo entry();
Strobe\with_labels(["y" => 1], function () { $GLOBALS["e"] = Strobe\Unit::begin("e"); echo " ", entry(), Strobe\labels()["y"]; });
echo " ", entry(), Strobe\labels()["y"] ?? "-";
$GLOBALS["e"]->end();
for ($i = 0; $i < 1000; $i++) $units[] = Strobe\Unit::begin("u$i");
shuffle($units); while ($units) array_pop($units); echo " ", entry();
', ['strobe.mode' => 'off']);
check($run->stdout === 'a-a script script e1 script- script', $run->stdout . $run->stderr);

// Misuse is reported.
$run = profile('<?php
foreach ([fn() => Strobe\Unit::begin(""), fn() => Strobe\Unit::begin("x", ["host" => 1]), fn() => Strobe\Unit::begin("x", [], ["trace" => 1]),
	fn() => Strobe\Unit::begin("x", [], ["rate" => 1]), fn() => Strobe\Unit::begin("x", [], ["keep" => "quick"]), fn() => Strobe\Unit::run("x", fn() => 1, [], [true]),
	fn() => Strobe\set_attribute("url", "x"), fn() => Strobe\set_attribute("a", []), fn() => Strobe\set_attribute("a b", 1), fn() => Strobe\set_entry(""),
	fn() => Strobe\trace_request("sometimes"), function () { for ($i = 0; $i < 30; $i++) Strobe\set_attribute("a$i", $i); },
	fn() => new Strobe\Unit, fn() => clone Strobe\Unit::begin("x"), fn() => Strobe\trace_request() ? "" : throw new Exception("not traced"),
	fn() => Strobe\Unit::run("x", fn() => 1, [], ["trace" => true]) === 1 && throw new Exception("called all the same")] as $f)
	try {
		$f();
		echo "nothing\n";
	} catch (Throwable $e) {
		echo get_class($e), ": ", $e->getMessage(), "\n";
	}
');
echo $run->stdout, $run->stderr;

// A child has its parent's units, and sends runs of its own for them.
if (function_exists('pcntl_fork')) {
	$run = profile('<?php ' . DOZE . '
	function parent_only() { return strrev("x"); } function child_only() { return ucfirst("x"); }
	$u = Strobe\Unit::begin("forking", [], ["trace" => true]);
	parent_only();
	if ($pid = pcntl_fork()) { pcntl_waitpid($pid, $s); } else { child_only(); doze(0.1); }
	$u->end();
	', $observed + ['extension' => [extension_path(), 'pcntl']]);
	$calls = array_map(fn($m) => array_keys(array_intersect_key(run_calls($m), ['parent_only' => 1, 'child_only' => 1])), $run->runs());
	sort($calls);		// they come over two connections, in any order
	check($calls === [['child_only'], ['parent_only']], 'forked: ' . json_encode($calls));
	check(array_unique(array_column(array_column($run->runs(), 'labels'), 'entry')) === ['forking'], 'both under its name');
}
echo "done\n";
?>
--EXPECT--
ValueError: Strobe\Unit::begin(): Argument #1 ($name) must not be empty
ValueError: Strobe\Unit::begin(): Argument #2 ($labels) must not have the key "host", which strobe sets itself
TypeError: Strobe\Unit::begin(): Argument #3 ($options) must have a bool as "trace", int given
ValueError: Strobe\Unit::begin(): Argument #3 ($options) must have no other keys than "sample", "trace" and "keep"
ValueError: Strobe\Unit::begin(): Argument #3 ($options) must have a valid value of strobe.trace_keep as "keep"
ValueError: Strobe\Unit::run(): Argument #4 ($options) must have no other keys than "sample", "trace" and "keep"
ValueError: Strobe\set_attribute(): Argument #1 ($key) must not be "url", which strobe sets itself
TypeError: Strobe\set_attribute(): Argument #2 ($value) must be of type string|int|float|bool, array given
ValueError: Strobe\set_attribute(): Argument #1 ($key) must be 1 to 64 letters, digits and "_", and not begin with a digit
ValueError: Strobe\set_entry(): Argument #1 ($name) must not be empty
ValueError: Strobe\trace_request(): Argument #1 ($keep) must be a valid value of strobe.trace_keep
Strobe\Exception: The limit of 24 attributes is reached
Error: Call to private Strobe\Unit::__construct() from global scope
Error: Trying to clone an uncloneable object of class Strobe\Unit
Exception: not traced
Exception: called all the same
done
