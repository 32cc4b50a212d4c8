--TEST--
A child forked in a traced request sends its own run, which begins with the fork
--EXTENSIONS--
sockets
pcntl
--FILE--
<?php
require __DIR__ . '/strobe.inc';

$ini = ['strobe.mode' => 'off', 'strobe.trace_rate' => '1'];
$run = profile('<?php
function before() { usleep(20000); return strrev("x"); }
function in_parent() { return abs(-1); }
function in_child() { usleep(30000); return ucfirst("x"); }
function in_grandchild() { return lcfirst("x"); }
function forking()
{
	$child = pcntl_fork();
	if ($child === 0) {
		in_child();
		$grandchild = pcntl_fork();
		if ($grandchild === 0) {
			in_grandchild();
			exit(7);
		}
		pcntl_waitpid($grandchild, $status);
		exit(pcntl_wexitstatus($status));
	}
	in_parent();
	pcntl_waitpid($child, $status);
	return pcntl_wexitstatus($status);
}
before();
Strobe\add_label("job", "fork");
echo forking(), " ", getmypid();
', $ini);
[$status, $parent] = explode(' ', $run->stdout);
check($status === '7' && $run->status === 0, "the program is not changed: $run->stdout$run->stderr");
$runs = $run->runs();
check(count($runs) === 3 && count(array_unique(array_column($runs, 'pid'))) === 3, count($runs) . ' runs of three processes');
check(count(array_unique(array_column(array_column($runs, 'labels'), 'id'))) === 3, 'each has its own id');
check($run->connections === 3, "each over its own connection: $run->connections");
$seen = [];
foreach ($runs as $m) {
	$calls = array_intersect_key(run_calls($m), array_flip(['before', 'in_parent', 'in_child', 'in_grandchild', 'strrev', 'abs', 'ucfirst', 'lcfirst']));
	ksort($calls);
	$seen[] = implode(' ', array_keys($calls)) . ($m['pid'] === (int)$parent ? ' (parent)' : '');
	check(count(array_filter($calls, fn($n) => $n !== 1)) === 0, 'once each: ' . json_encode($calls));
	check($m['labels']['job'] === 'fork' && $m['labels']['source'] === 'sampled', json_encode($m['labels']));
	$main = run_tree($m)['main()'];
	check(abs($main['wall_ns'] - ($m['end'] - $m['start'])) < 100e6 && $main['cpu_ns'] >= 0 && $main['cpu_ns'] < $main['wall_ns'] + 1e6, 'main() holds what passed: ' . json_encode($main));
	foreach (run_tree($m) as $path => $v)
		check($v['cpu_ns'] >= 0 && $v['wall_ns'] >= 0, "$path: " . json_encode($v));
}
sort($seen);
check($seen === ['abs before in_parent strrev (parent)', 'in_child ucfirst', 'in_grandchild lcfirst'], json_encode($seen));
$start = min(array_column($runs, 'start'));
foreach ($runs as $m)
	check(($m['start'] - $start >= 15e6) === ($m['pid'] !== (int)$parent), 'a child begins with its fork: ' . ($m['start'] - $start));

// In a unit that is traced itself: each run sees its own part, and counts what runs once. The fork is in a fiber, above calls in
// which a trace was stopped.
$run = profile('<?php
function stops($trace) { $trace->stop(); return in_fiber(); }
function in_fiber()
{
	$f = new Fiber(function () {
		$child = pcntl_fork();
		forked();
		Fiber::suspend($child);
	});
	$child = $f->start();
	after();
	return $child;
}
function forked() {}
function after() {}
function job() { return stops(Strobe\Trace::start()); }
function after_job() {}
$child = Strobe\Unit::run("job", "job", [], ["trace" => true]);
after_job();
if ($child)
	pcntl_waitpid($child, $status);
else
	exit(0);
', $ini);
check(count($run->runs()) === 4 && $run->status === 0, count($run->runs()) . " runs: $run->stdout$run->stderr");
foreach ($run->runs() as $m) {
	$is_unit = $m['labels']['entry'] === 'job';
	$calls = array_intersect_key(run_calls($m), array_flip(['job', 'stops', 'in_fiber', 'forked', 'after', 'after_job']));
	check($calls == ['job' => 1, 'stops' => 1, 'in_fiber' => 1, 'forked' => 1, 'after' => 1] + ($is_unit ? [] : ['after_job' => 1]), json_encode($m['labels']) . json_encode($calls));
	$job = ($is_unit ? 'main();' : 'main();S;Strobe\Unit::run;') . 'job;stops;in_fiber;';
	$paths = array_map(fn($path) => preg_replace('~;/[^;(]*/script\.php(?=;)~', ';S', $path), array_keys(run_tree($m)));
	check(in_array("{$job}after", $paths) && preg_grep('~^' . preg_quote("{$job}Fiber::start;{closure") . '.*;forked$~', $paths), json_encode($paths));
	check($is_unit || in_array('main();S;after_job', $paths), json_encode($paths));
}

// Children that only exec, that are killed, and many at once.
$run = profile('<?php
function child($i) { return str_repeat("x", $i); }
for ($round = 0; $round < 5; $round++) {
	$children = [];
	for ($i = 0; $i < 4; $i++) {
		$pid = pcntl_fork();
		if ($pid === 0) {
			child($i);
			if ($i === 0)
				pcntl_exec("/bin/true");
			if ($i === 1)
				proc_open("kill -9 " . getmypid(), [], $pipes) && sleep(10);
			exit(0);
		}
		$children[] = $pid;
	}
	foreach ($children as $pid)
		pcntl_waitpid($pid, $status);
}
echo "all well";
', $ini);
check($run->stdout === 'all well' && $run->status === 0, "many: $run->stdout$run->stderr");
$with = array_filter($run->runs(), fn($m) => (run_calls($m)['child'] ?? 0) === 1);
check(count($run->runs()) === 11 && count($with) === 10, count($run->runs()) . ' runs, ' . count($with) . ' of children');

// A trace of the program itself, and a run that is saved, in the child.
$run = profile('<?php
function work() { return strlen(str_repeat("x", 9)); }
$t = Strobe\Trace::start(Strobe\COUNTS);
work();
$s = new Strobe\Sampler(0.001);
$s->start();
if (!($pid = pcntl_fork())) {
	work();
	for ($end = microtime(true) + 0.05; microtime(true) < $end; );
	$p = $s->stop();
	echo array_column($t->stop()->getFunctions(), "calls", "name")["work"], " ", $p->getTotals()["samples"] > 20 ? "sampled" : "not sampled", "\n";
	echo strlen($p->save("child")), "\n";
	exit(0);
}
pcntl_waitpid($pid, $status);
$s->stop()->save("parent");
', ['strobe.trace_rate' => '0', 'strobe.instrument' => '1'] + $ini);
check($run->stdout === "2 sampled\n32\n" && $run->status === 0, "its own: $run->stdout$run->stderr");
check(array_column(array_column($run->runs(), 'labels'), 'source') === ['child', 'parent', 'unfinished'], 'both are saved, and what the parent did not stop');
echo "done\n";
?>
--EXPECT--
done
