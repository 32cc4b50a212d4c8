--TEST--
Stacks read by the ticker thread of a program that forks, execs, throws, switches fibers and frees closures: no crash, no torn data, no descriptor leak
--EXTENSIONS--
sockets
--FILE--
<?php
require __DIR__ . '/strobe.inc';
ini_set('memory_limit', '-1');

$program = <<<'PHP'
<?php
mt_srand(7);
function pause(int $n) { usleep($n % 29 === 0 ? 120000 : mt_rand(0, 15000)); }
function numbers(int $n) { try { for ($i = 0; $i < 3; $i++) { pause($n + $i); yield $i; } } finally { strrev('x'); } }
function thrower(int $n) { try { inner($n); } catch (RuntimeException $e) { } }
function inner(int $n) { pause($n); throw new RuntimeException((string)$n); }
function deep(int $n, int $depth) { return $depth ? deep($n, $depth - 1) : pause($n); }
function in_fiber(int $n) { pause($n); Fiber::suspend(); (function () use ($n) { pause($n + 1); })(); }
class Magic { function __call($name, $a) { pause($a[0]); } static function __callStatic($name, $a) { pause($a[0]); } }

function one(int $n) { return $n + 1; }
function two(int $n) { return one($n); }
function pair(int $n) { return one($n) + two($n); }

function work(int $seed) {
	for ($end = microtime(true) + 0.15; microtime(true) < $end;)
		pair($seed);
	for ($n = $seed; $n < $seed + 40; $n++) {
		switch ($n % 10) {
		case 0: foreach (numbers($n) as $x) if ($x === 1 && $n % 4) break; break;
		case 1: thrower($n); break;
		case 2: deep($n, mt_rand(1, 400)); break;
		case 3: $f = new Fiber('in_fiber'); $f->start($n); pause($n + 2); if ($n % 3) $f->resume(); unset($f); break;
		case 4: (new Magic)->{"m$n"}($n); Magic::{"s$n"}($n); break;
		case 5: array_map(fn($k) => pause($k), [$n, $n + 3]); break;
		case 6: eval("(function () { pause($n); })();"); break;
		case 7: $a = range(1, 20000); usort($a, fn($x, $y) => $y <=> $x); break;
		case 8: if (UNITS) { $u = Strobe\Unit::begin("job", ['job' => "j" . $n % 3]); pause($n); unset($u); } break;
		case 9: if (UNITS) Strobe\add_label('step', "s" . $n % 7); pause($n); break;
		}
	}
}

define('UNITS', $argv[1] === 'units');
const SOCKETS = 'ls -l /proc/self/fd | grep -c socket:';
echo trim(shell_exec(SOCKETS)), ' ';	// sockets inherited from our parent
$pids = [];
work(0);
foreach ([100, 200, 300] as $seed) {
	$pid = pcntl_fork();
	if ($pid === 0) {
		work($seed);
		if ($seed === 300)
			pcntl_exec('/bin/sh', ['-c', SOCKETS . '; exit 0']);
		exit;
	}
	$pids[] = $pid;
}
work(400);
foreach ($pids as $pid) {
	pcntl_waitpid($pid, $status);
	if ($status)
		echo "child $pid: $status\n";
}
/* A look opens no descriptor in the program: the ticker's thread shares none with it. */
fclose(STDIN);
for ($i = 0; $i < 300; $i++) {
	$f = fopen('/dev/null', 'r');
	if (readlink('/proc/self/fd/0') !== '/dev/null')
		echo "look $i: ", readlink('/proc/self/fd/0'), "\n";
	fclose($f);
	usleep(1000);
}
foreach (glob('/proc/self/task/*') as $task)
	if (trim(file_get_contents("$task/comm")) === 'strobe-ticker' && file_exists("$task/fd/1"))
		echo "the ticker's thread has the program's descriptors\n";
echo 'back';
PHP;

$ini = ['strobe.flush_waiting' => '0.01'];

function labeled(array $m): string
{
	return "{$m['pid']} {$m['start']} " . json_encode($m['labels']);
}

// Samples: each stack that is told is sent, too, by who did not exec.
$run = profile($program, ['strobe.flush' => '0.05'] + $ini, ['units']);
check(preg_match('/^(\d+) \1\nback$/', $run->stdout) && $run->stderr === '' && $run->status === 0, "samples: $run->status '$run->stdout' '$run->stderr'");
$sent = $told = 0;
$stacks = $pids = $sums = $sums_told = [];
foreach ($run->sampled() as $m) {
	$sums["{$m['pid']} {$m['start']}"] = ($sums["{$m['pid']} {$m['start']}"] ?? 0) + array_sum(array_column($m['stacks'], 1));
	foreach ($m['stacks'] as [$path, $samples])
		$stacks[labeled($m)][implode(';', $path)] = $samples + ($stacks[labeled($m)][implode(';', $path)] ?? 0);
}
foreach ($run->open as $m) {
	$told++;
	$sums_told["{$m['pid']} {$m['start']}"][$m['end']] = ($sums_told["{$m['pid']} {$m['start']}"][$m['end']] ?? 0) + array_sum(array_column($m['stacks'], 1));
	foreach ($m['stacks'] as [$path, $samples]) {
		$text = implode(';', $path);
		if (isset($stacks[labeled($m)][$text]))
			$sent++;
		else
			$pids[$m['pid']][] = labeled($m) . " $text: $samples";
		check(preg_match('/^[\w\\\\{}:;.\/()$@+#\[\]\' -]+$/', $text) === 1, 'a name: ' . bin2hex($text));
	}
}
check($told >= 5 && $sent >= 5, "$told messages told, $sent stacks of them sent again");
foreach ($sums as $key => $sum)
	check(max($sums_told[$key] ?? [0]) <= $sum, "$key: " . max($sums_told[$key] ?? [0]) . " samples told, $sum sent");
/* The one that did exec has sent nothing of what it did last. */
check(count($pids) <= 1, 'told and not sent: ' . json_encode($pids, JSON_PRETTY_PRINT));

// Traces: no path has more calls or more time than it has in the end.
$run = profile($program, ['strobe.mode' => 'off', 'strobe.trace_rate' => '1', 'strobe.trace_flush' => '0.05'] + $ini, ['traces']);
check(preg_match('/^(\d+) \1\nback$/', $run->stdout) && $run->stderr === '' && $run->status === 0, "traces: $run->status '$run->stdout' '$run->stderr'");
$whole = $ids = [];
foreach ($run->runs() as $m)
	$whole[$m['labels']['id']] = run_tree($m);
$told = 0;
foreach ($run->open as $m) {
	if (!$m['nodes'])
		continue;
	$told++;
	$id = $m['labels']['id'];
	if (!isset($whole[$id])) {
		$ids[$id] = true;
		continue;
	}
	$tree = run_tree($m);
	foreach ($m['nodes'] as $n)
		check($n['self']['wall_ns'] >= -1000, "{$n['name']} took {$n['self']['wall_ns']} ns itself: less than what it called");
	foreach ($tree as $path => $v)
		if (str_ends_with($path, ';pair'))
			foreach (['one', 'two', 'two;one'] as $callee)
				check(in_array($v['calls'] - $tree["$path;$callee"]['calls'], [0, 1], true),
					"$path: {$v['calls']} calls, but {$tree["$path;$callee"]['calls']} of $callee");
	foreach ($tree as $path => $v) {
		$w = $whole[$id][$path] ?? ['calls' => 0, 'wall_ns' => 0, 'cpu_ns' => 0];
		check($v['calls'] <= $w['calls'] && $v['calls'] >= 0, "$path: {$v['calls']} calls, in the end {$w['calls']}");
		check($v['wall_ns'] <= $w['wall_ns'] + 1e6 && $v['wall_ns'] >= 0, "$path: {$v['wall_ns']} ns, in the end {$w['wall_ns']}");
		check($v['cpu_ns'] <= $w['cpu_ns'] + 1e6 && $v['cpu_ns'] >= 0, "$path: {$v['cpu_ns']} ns of CPU time, in the end {$w['cpu_ns']}");
	}
}
check(count($whole) >= 3 && $told >= 5, count($whole) . " runs, $told told");
check(count($ids) <= 1, 'only what did exec has no run: ' . count($ids));
echo "done\n";
?>
--EXPECT--
done
