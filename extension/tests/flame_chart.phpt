--TEST--
Flame charts: the calls of a trace in order, compared with the programs' own logs
--EXTENSIONS--
sockets
pcntl
posix
--INI--
memory_limit=-1
--FILE--
<?php
require __DIR__ . '/strobe.inc';

/* A random program: functions that call each other, throw, are generators or run in fibers, and log their own beginnings and ends,
 * each in the fiber in which it runs. */
const PROGRAM = <<<'PHP'
final class Log
{
	public static array $events = [];

	public static function add(string $what, string $name = ''): void
	{
		self::$events[] = [$what, $name, hrtime(true), Fiber::getCurrent() ? spl_object_id(Fiber::getCurrent()) : 0];
	}
}

function any(int $depth): void
{
	if ($depth <= 0 || mt_rand(0, 99) < 10)
		return;
	for ($i = mt_rand(0, 3); $i > 0; $i--)
		match (mt_rand(0, 9)) {
			0, 1, 2 => plain($depth - 1),
			3 => Thing::method($depth - 1),
			4 => array_map(closure(...), [$depth - 1]),
			5 => thrower($depth - 1),
			6 => uses_generator($depth - 1),
			7, 8 => uses_fiber($depth - 1),
			9 => Fiber::getCurrent() ? suspends() : plain($depth - 1),
		};
}

function plain(int $d): void { Log::add('in', 'plain'); try { any($d); } finally { Log::add('out'); } }
function closure(int $d): void { Log::add('in', 'closure'); try { any($d); } finally { Log::add('out'); } }
final class Thing { public static function method(int $d): void { Log::add('in', 'Thing::method'); try { any($d); } finally { Log::add('out'); } } }
function throws(int $d): void { Log::add('in', 'throws'); try { any($d); throw new Exception; } finally { Log::add('out'); } }
function thrower(int $d): void { Log::add('in', 'thrower'); try { throws($d); } catch (Exception) { any($d); } finally { Log::add('out'); } }
function suspends(): void { Log::add('in', 'suspends'); Log::add('suspend'); Fiber::suspend(); Log::add('resume'); Log::add('out'); }
function generator(int $d): Generator
{
	for ($i = 0; $i < 3; $i++) {
		Log::add('in', 'generator');
		try { any($d - 1); } finally { Log::add('out'); }
		yield $i;
	}
	Log::add('in', 'generator');
	Log::add('out');
}
function uses_generator(int $d): void
{
	Log::add('in', 'uses_generator');
	try {
		foreach (generator($d) as $i)
			any($d - 1);
	} finally { Log::add('out'); }
}
function in_fiber(int $d): void { Log::add('in', 'in_fiber'); try { any($d); suspends(); any($d); } finally { Log::add('out'); } }
function uses_fiber(int $d): void
{
	Log::add('in', 'uses_fiber');
	$f = new Fiber(in_fiber(...));
	for ($f->start($d); !$f->isTerminated(); $f->resume())
		any($d - 1);
	Log::add('out');
}

mt_srand((int)$argv[1]);
for ($i = 0; $i < 10; $i++)
	plain(7);
echo json_encode(Log::$events);
PHP;

/* The nesting of calls by the log, as [depth, name, latest start, earliest end]: what a fiber runs lies where it was resumed, in one
 * piece per stay. */
function expected(array $events): array
{
	$fibers = [];	// names of the open calls by fiber, without those that are above
	$stack = [];	// fibers that run, each resumed by the one before
	$open = [];	// spans that are open
	$spans = [];
	$begin = function (string $name, int $at) use (&$spans, &$open) {
		$spans[] = [count($open), $name, $at, null];
		$open[] = count($spans) - 1;
	};
	$close = function (int $at) use (&$spans, &$open) {
		$spans[array_pop($open)][3] = $at;
	};
	foreach ($events as [$what, $name, $at, $fiber]) {
		if (!in_array($fiber, $stack, true))
			$stack[] = $fiber;
		while (end($stack) !== $fiber)
			array_pop($stack);
		if ($what === 'in') {
			$fibers[$fiber][] = $name;
			$begin($name, $at);
		} elseif ($what === 'out') {
			array_pop($fibers[$fiber]);
			$close($at);
		} elseif ($what === 'suspend') {
			foreach ($fibers[$fiber] as $ignored)
				$close($at);
			array_pop($stack);
		} else {
			foreach ($fibers[$fiber] as $name)
				$begin($name, $at);
		}
	}
	return $spans;
}

const NAMES = ['plain', 'closure', 'Thing::method', 'throws', 'thrower', 'suspends', 'generator', 'uses_generator', 'in_fiber', 'uses_fiber'];

/* The same by the chart. */
function charted(array $m): array
{
	$open = $spans = [];
	foreach ($m['calls'] as $c) {
		$n = $m['nodes'][$c['node']];
		while ($open && end($open)[0] !== $n['parent'])
			array_pop($open);
		$depth = count(array_filter($open, fn($o) => $o[1]));
		$open[] = [$c['node'], in_array($n['name'], NAMES, true)];
		if (end($open)[1])
			$spans[] = [$depth, $n['name'], $c['start'], $c['end']];
	}
	return $spans;
}

function calls_in_tree(array $m): int
{
	return array_sum(array_column(array_column($m['nodes'], 'self'), 'calls')) - 1;
}

$ini = ['strobe.mode' => 'off', 'strobe.trace_rate' => '1', 'strobe.trace_flame_chart' => '1', 'fiber.stack_size' => '256K'];
$spans_seen = $resumed = 0;
$seeds = in_full() ? 8 : 3;
for ($seed = 1; $seed <= $seeds; $seed++) {
	$run = profile('<?php ' . PROGRAM, $ini, [(string)$seed]);
	check($run->status === 0 && count($run->runs()) === 1, "seed $seed: " . substr($run->stdout, -300) . $run->stderr);
	$m = $run->runs()[0];
	$expected = expected(json_decode($run->stdout));
	$charted = charted($m);
	$spans_seen += count($charted);
	$shape = fn($spans) => array_map(fn($s) => "$s[0] $s[1]", $spans);
	check($shape($expected) === $shape($charted), "seed $seed: order and nesting are those that the program has logged: "
		. json_encode(array_slice(array_diff_assoc($shape($charted), $shape($expected)), 0, 3)));
	/* A call begins before it logs that, and ends afterwards: there is a difference of the two clocks at which that is true of all
	 * calls. The rate of the processor's counter is a measurement. */
	$latest = PHP_INT_MAX;
	$earliest = PHP_INT_MIN;
	foreach ($charted as $i => [, , $start, $end]) {
		$latest = min($latest, $expected[$i][2] - $start);
		if ($expected[$i][3] !== null)
			$earliest = max($earliest, $expected[$i][3] - $end);
	}
	check($earliest <= $latest + 1e-4 * ($m['end'] - $m['start']) + 1000, "seed $seed: times: $earliest, $latest");
	/* main() is all of it: around each other call, longer than what the program logs, and no longer than the run. */
	$logged = array_column(json_decode($run->stdout), 2);
	['node' => $node, 'start' => $start, 'end' => $end] = $m['calls'][0];
	check($node === 1 && $start === min(array_column($m['calls'], 'start')) && $end === max(array_column($m['calls'], 'end')), "seed $seed: main() is the outermost call");
	check($end - $start >= (end($logged) - $logged[0]) * 0.9999 - 1000 && $end <= ($m['end'] - $m['start']) * 1.0001 + 1e6,
		"seed $seed: main() from $start to $end, logged " . end($logged) - $logged[0] . ', run ' . $m['end'] - $m['start']);
	check(!isset($m['labels']['uncharted_calls']), 'all calls are there');
	/* Each call of the tree is in the chart, and a fiber's calls once more for each time that it goes on. */
	$by_node = array_count_values(array_column($m['calls'], 'node'));
	foreach ($m['nodes'] as $i => $n)
		check(($by_node[$i] ?? 0) >= $n['self']['calls'], "seed $seed: $n[name] is called {$n['self']['calls']} times");
	$resumed += count($m['calls']) - 1 - calls_in_tree($m);
}
check($spans_seen > 375 * $seeds && $resumed > 12 * $seeds, "there is something to compare: $spans_seen $resumed");

// Off by default, and without a chart the message is one of version 1.
$run = profile('<?php echo strrev("x");', ['strobe.trace_flame_chart' => '0'] + $ini);
check($run->runs()[0]['calls'] === [] && $run->runs()[0]['version'] === 1, 'no chart');

// More calls than there is room for: the first ones, the rest is counted, the tree is exact.
$loop = '<?php function f($i) { return g($i); } function g($i) { return abs($i); } function all() { for ($i = 0; $i < 1000; $i++) f($i); } all(); echo "fine";';
$run = profile($loop, ['strobe.trace_chart_calls' => '1024'] + $ini);
$m = $run->runs()[0];
check($run->stdout === 'fine' && count($m['calls']) === 1024, count($m['calls']) . ' calls');
check(run_calls($m)['f'] === 1000 && run_calls($m)['abs'] === 1000, 'the tree has all of them');
check((int)$m['labels']['uncharted_calls'] === calls_in_tree($m) - 1023, "left out: {$m['labels']['uncharted_calls']} of " . calls_in_tree($m));
check(count(array_filter($m['calls'], fn($c) => $m['nodes'][$c['node']]['name'] === 'all' && $c['end'] - $c['start'] > 0)) === 1, 'a call that was there when it became full has its end');

// A fiber that goes on is a record and no call: what is left out is counted without it.
$run = profile('<?php function outer() { inner(); } function inner() { for ($i = 0; $i < 50; $i++) Fiber::suspend(); } function f($i) { return abs($i); }
	$fiber = new Fiber(outer(...)); for ($fiber->start(); !$fiber->isTerminated(); $fiber->resume()); for ($i = 0; $i < 2000; $i++) f($i); echo "fine";', ['strobe.trace_chart_calls' => '1024'] + $ini);
$m = $run->runs()[0];
$records = array_count_values(array_column($m['calls'], 'node'));
$again = 0;
foreach ($m['nodes'] as $i => $n)
	if (in_array($n['name'], ['outer', 'inner', 'Fiber::suspend'], true))
		$again += $records[$i] - $n['self']['calls'];
check($again === 150 && (int)$m['labels']['uncharted_calls'] === calls_in_tree($m) - (1024 - 1 - $again), "with fibers: $again, {$m['labels']['uncharted_calls']} of " . calls_in_tree($m));

// Calls that find no room in the tree are folded, in the chart too.
$wide = '<?php function w($d) { if ($d) { for ($i = 0; $i < 4; $i++) { ("a" . $i)($d); } } } ';
for ($i = 0; $i < 4; $i++)
	$wide .= "function a$i(\$d) { w(\$d - 1); } ";
$run = profile("$wide w(6); echo 'fine';", ['strobe.trace_max_nodes' => '1024'] + $ini);
$m = $run->runs()[0];
$folded = array_filter($m['nodes'], fn($n) => $n['name'] === '[folded]');
$charted = array_filter($m['calls'], fn($c) => isset($folded[$c['node']]));
check($run->stdout === 'fine' && $folded && $charted, 'folded calls are in the chart');
check((int)$m['labels']['uncharted_calls'] === calls_in_tree($m) + 1 - count($m['calls']) && $m['labels']['uncharted_calls'] > 0, 'calls within folded ones are not, and counted');

// exit in the middle, an error, and a request that ends within a fiber.
foreach (['exit' => 'function a() { b(); } function b() { exit(0); } a();', 'exception' => 'function a() { b(); } function b() { throw new Exception("x"); } a();',
	'memory' => 'ini_set("memory_limit", "4M"); function a() { b(); } function b() { str_repeat("x", 1 << 23); } a();',
	'fiber' => 'function a() { (new Fiber(b(...)))->start(); } function b() { Fiber::suspend(); } a();'] as $what => $code) {
	$m = profile("<?php $code", $ini)->runs()[0];
	$names = array_map(fn($c) => $m['nodes'][$c['node']]['name'], $m['calls']);
	/* A fiber that waits still goes on at the end, to be destroyed. */
	check(array_values(array_intersect($names, ['a', 'b'])) === ($what === 'fiber' ? ['a', 'b', 'b'] : ['a', 'b']), "$what: " . json_encode($names));
	foreach ($m['calls'] as $c)
		check($c['end'] <= $m['end'] - $m['start'] + 20e6, "$what: all end");
}

// A forked child has a chart of its own, which begins with the fork with the calls that run.
$run = profile('<?php function before() { usleep(300000); } function f() { $pid = pcntl_fork(); $pid ? pcntl_waitpid($pid, $s) : child(); after(); } function child() { usleep(1000); } function after() {} before(); f();', $ini);
check(count($run->runs()) === 2, count($run->runs()) . ' runs');
foreach ($run->runs() as $m) {
	$names = array_values(array_intersect(array_map(fn($c) => $m['nodes'][$c['node']]['name'], $m['calls']), ['before', 'f', 'child', 'after']));
	$is_child = in_array('child', $names, true);
	check($names === ($is_child ? ['f', 'child', 'after'] : ['before', 'f', 'after']), json_encode($names));
	check($m['calls'][0]['start'] < 200e6, "it begins with the process: {$m['calls'][0]['start']}");
}

// Cut off: what is handed over has the chart up to then; of a killed process that is what there is.
$run = profile('<?php function f() { usleep(1000); } for ($i = 0; $i < 500; $i++) f(); posix_kill(getmypid(), 9);', ['strobe.trace_flush' => '0.02'] + $ini);
$open = array_values(array_filter($run->open, fn($m) => $m['nodes']));
check($open && end($open)['calls'], 'an open run has its chart');
foreach ($open as $m)
	foreach ($m['calls'] as $c)
		check($c['end'] <= $m['end'] - $m['start'] + 5e6, "no call is longer than the run: $c[end] " . ($m['end'] - $m['start']));
// The same by the thread beside, while PHP is in one long call.
$in_usleep = fn(array $m) => $m['calls'] && $m['nodes'][end($m['calls'])['node']]['name'] === 'usleep' ? end($m['calls'])['end'] - end($m['calls'])['start'] : 0;
$run = profile('<?php function f() { for ($i = 0; $i < 500; $i++) abs($i); usleep(50000000); } f();', ['strobe.trace_flush' => '100', 'strobe.flush_waiting' => '0.1'] + $ini,
	meanwhile: fn($receiver, $run, $pid) => $receiver->open && $in_usleep(end($receiver->open)) > 50e6 && posix_kill($pid, 9));
$open = array_values(array_filter($run->open, fn($m) => $m['nodes']));
$m = $open ? end($open) : null;
$names = $m ? array_map(fn($c) => $m['nodes'][$c['node']]['name'], $m['calls']) : [];
check(count(array_keys($names, 'abs')) === 500 && end($names) === 'usleep', 'the copy: ' . json_encode(array_count_values($names)));
check($m && $in_usleep($m) > 50e6, 'the call that runs lasts until then');

echo "done\n";
?>
--EXPECT--
done
