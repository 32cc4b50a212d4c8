--TEST--
strobe.flush_waiting reports the time of a call while it runs, which survives when the process is killed during the call
--EXTENSIONS--
sockets
posix
--FILE--
<?php
require __DIR__ . '/strobe.inc';

$ini = ['strobe.flush_waiting' => '0.2', 'strobe.flush' => '0.1'];

function told(array $open): array
{
	$stacks = [];
	foreach ($open as $m)
		if ($m['kind'] === 4)
			foreach ($m['stacks'] as [$path, $samples])
				$stacks["{$m['pid']} {$m['start']} " . json_encode($m['labels']) . ' ' . implode(';', $path)][] = $samples;
	return $stacks;
}

function samples_of(array $messages): array
{
	$stacks = [];
	foreach ($messages as $m)
		foreach ($m['stacks'] as [$path, $samples]) {
			$key = "{$m['pid']} {$m['start']} " . json_encode($m['labels']) . ' ' . implode(';', $path);
			$stacks[$key] = ($stacks[$key] ?? 0) + $samples;
		}
	return $stacks;
}

/* Whatever is told is said again, by the messages with the same start, with the same labels and stacks and as many samples or more in
 * all: the last ones before the call cannot be distinguished from it. */
function check_told_again(Run $run, string $what, string $call): void
{
	$sent = samples_of($run->sampled());
	$told = told($run->open);
	check(count(array_filter(array_keys($told), fn($k) => str_contains($k, $call))) >= 1, "$what: $call is told: " . json_encode($told));
	foreach ($told as $key => $samples)
		check(isset($sent[$key]), "$what: $key: " . json_encode($samples) . ' told, none sent of ' . json_encode($sent));
	$sums = [];
	foreach ($run->sampled() as $m)
		$sums["{$m['pid']} {$m['start']}"] = ($sums["{$m['pid']} {$m['start']}"] ?? 0) + array_sum(array_column($m['stacks'], 1));
	foreach ($run->open as $m)
		$told_at["{$m['pid']} {$m['start']}"][$m['end']] = ($told_at["{$m['pid']} {$m['start']}"][$m['end']] ?? 0) + array_sum(array_column($m['stacks'], 1));
	foreach ($told_at ?? [] as $key => $by_end)
		check(max($by_end) <= ($sums[$key] ?? 0), "$what: $key: " . json_encode($by_end) . ' told, ' . ($sums[$key] ?? 'none') . ' sent');
}

/* A program that waits for 700000 us, or longer where the machine has no time for the ticking thread meanwhile. */
function profile_told(string $code, array $ini): Run
{
	for ($us = 700000;; $us *= 4) {
		$run = profile(str_replace('700000', (string)$us, $code), $ini);
		if (array_filter($run->open, fn($m) => $m['nodes'] !== []) || $us > 9e6)
			return $run;
	}
}

$waits = [
	'usleep' => 'usleep(700000);',
	'sleep' => 'sleep((int)ceil(700000 / 1e6));',
	'stream_select' => '$p = stream_socket_pair(STREAM_PF_UNIX, STREAM_SOCK_STREAM, 0); $r = [$p[0]]; $n = null; stream_select($r, $n, $n, intdiv(700000, 1000000), 700000 % 1000000);',
	'fread' => '$p = stream_socket_pair(STREAM_PF_UNIX, STREAM_SOCK_STREAM, 0); stream_set_timeout($p[0], intdiv(700000, 1000000), 700000 % 1000000); fread($p[0], 9);',
];
foreach ($waits as $call => $code) {
	$run = profile_told('<?php ' . BUSY . " function first() { busy(0.03); } function waits() { $code } first(); waits(); echo 'back';", $ini);
	check($run->stdout === 'back' && $run->stderr === '', "$call: $run->stdout $run->stderr");
	check_told_again($run, $call, "waits;$call");
}

// Stacks and labels are those that the samples have: of closures, methods, generators, fibers, units, and of what is too deep.
$shapes = [
	'closures' => ['class K { function m() { $f = function () { usleep(700000); }; $g = function () { }; $f(); } } (new K)->m();', []],
	'a generator' => ['function g() { usleep(700000); yield 1; } foreach (g() as $x);', []],
	'a fiber' => ['function in_fiber() { usleep(700000); } (new Fiber(in_fiber(...)))->start();', []],
	'an anonymous class' => ['(new class { static function s() { usleep(700000); } })::s();', []],
	'a unit' => ['$u = Strobe\Unit::begin("job", ["job" => "import"]); usleep(700000); unset($u);', []],
	'a label' => ['Strobe\add_label("step", "one"); usleep(3000); Strobe\add_label("step", "two"); usleep(700000);', []],
	'too deep' => ['function deep($n) { return $n ? deep($n - 1) + 0 : usleep(700000); } deep(300);', ['strobe.max_depth' => '40']],
	'a callback' => ['array_map(function ($us) { usleep($us); }, [700000]);', []],
	'__call' => ['class C { function __call($n, $a) { usleep(700000); } } (new C)->missing();', []],
];
foreach ($shapes as $what => [$code, $more]) {
	$run = profile_told("<?php $code echo 'back';", $more + $ini);
	check($run->stdout === 'back', "$what: $run->stdout $run->stderr");
	check_told_again($run, $what, 'usleep');
}

// A forked child tells of itself, and not once more of its parent.
if (extension_loaded('pcntl')) {
	$run = profile_told('<?php ' . BUSY . ' function parent_waits() { pcntl_wait($s); } function child_waits() { usleep(700000); }
		busy(0.02); $pid = pcntl_fork(); if ($pid === 0) child_waits(); else parent_waits(); echo "back";', $ini);
	check($run->stdout === 'backback', "fork: $run->stdout $run->stderr");
	check_told_again($run, 'fork', 'child_waits;usleep');
	check_told_again($run, 'fork', 'parent_waits;pcntl_wait');
}

// Waiting takes no CPU time; what worked before is told all the same.
$run = profile_told('<?php ' . BUSY . ' function first() { busy(0.05); } first(); usleep(700000); echo "back";', ['strobe.clock' => 'cpu', 'strobe.flush' => '5'] + $ini);
check_told_again($run, 'CPU', 'first;busy');
check(array_filter(array_keys(told($run->open)), fn($k) => str_contains($k, 'usleep')) === [], 'CPU: ' . json_encode(told($run->open)));

// Lines are those of the calls that it waits in.
$run = profile_told("<?php " . BUSY . "
function waits() {
	\$x = 1;
	usleep(700000);
}
busy(0.02);
waits(); echo 'back';", $ini);
$depth = substr_count(BUSY, "\n");
$told = array_map(fn($path) => preg_replace('~/[^;]*/~', '', $path), array_keys($run->lines($run->open)));
check(in_array('script.php:' . $depth + 7 . ';waits:' . $depth + 4 . ';usleep:0', $told, true), 'lines: ' . json_encode($told));

// A process that is killed in its call; without the setting nothing is told.
$program = '<?php ' . BUSY . ' function first() { busy(0.3); } function waits() { sleep(1000); } first(); waits();';
foreach ([9, 15, 2] as $signal) {
	$run = profile($program, ['strobe.flush' => '5'] + $ini, meanwhile: function ($receiver, $run, $pid) use ($signal) {
		foreach ($receiver->open as $m)
			foreach ($m['stacks'] as [$path, $samples])
				if (end($path) === 'sleep' && $samples >= 1000)
					posix_kill($pid, $signal);
	});
	check($run->status === 128 + $signal && $run->messages === [], "signal $signal: $run->status, " . count($run->messages) . ' messages');
	$last = array_filter($run->open, fn($m) => $m['end'] === max(array_column($run->open, 'end')));
	$first = 0;
	foreach ($last as $m)
		foreach ($m['stacks'] as [$path, $samples])
			$first += in_array('first', $path, true) ? $samples : 0;
	check($first >= 100, "signal $signal: $first samples of what came before the call");
}
$run = profile('<?php usleep(700000);', ['strobe.flush' => '0.1']);
check($run->open === [], 'nothing is told: ' . count($run->open));

// The same of traces: all nodes and calls of the run, and no more time than it has.
$traced = ['strobe.mode' => 'off', 'strobe.trace_rate' => '1', 'strobe.trace_flush' => '100', 'strobe.flush_waiting' => '0.2'];
$run = profile_told('<?php ' . BUSY . ' function leaf($n) { return $n ? leaf($n - 1) : strrev("x"); }
	function first() { for ($i = 0; $i < 5000; $i++) leaf($i % 20); } class K { function m() { $f = function () { usleep(700000); }; $f(); } }
	first(); (new K)->m(); echo "back";', $traced);
$told = array_values(array_filter($run->open, fn($m) => $m['nodes'] !== []));
check($run->stdout === 'back' && count($told) >= 1, "$run->stdout, " . count($told) . ' told');
$whole = run_tree($run->messages[0]);
foreach ($told as $m) {
	check($m['labels']['id'] === $run->messages[0]['labels']['id'], 'the id of the run');
	$tree = run_tree($m);
	check(isset($tree['main();' . $run->messages[0]['frames'][1]['name']]) || count($tree) > 20, 'a whole tree');
	foreach ($tree as $path => $v) {
		check($v['calls'] === ($whole[$path]['calls'] ?? 0), "$path: {$v['calls']} calls, truly " . ($whole[$path]['calls'] ?? 0));
		check($v['wall_ns'] >= 0 && $v['wall_ns'] <= ($whole[$path]['wall_ns'] ?? 0) + 1e6, "$path: {$v['wall_ns']} ns, truly " . ($whole[$path]['wall_ns'] ?? 0));
		check($v['cpu_ns'] >= 0 && $v['cpu_ns'] <= $v['wall_ns'] + 1000, "$path: {$v['cpu_ns']} ns of CPU time in {$v['wall_ns']}");
	}
	$usleep = array_sum(array_map(fn($path) => str_ends_with($path, ';usleep') ? $tree[$path]['wall_ns'] : 0, array_keys($tree)));
	check($usleep >= 1e8, "usleep: $usleep ns");
}
echo "done\n";
?>
--EXPECT--
done
