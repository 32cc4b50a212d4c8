--TEST--
Strobe\Profile: folded, speedscope, pprof, xhprof, totals and functions agree for any names and depth
--INI--
strobe.instrument=1
memory_limit=512M
--FILE--
<?php
require __DIR__ . '/strobe.inc';

use Strobe\{Trace, Profile};

/* Reads a protobuf message: field => list of numbers and byte strings. */
function proto(string $b): array
{
	$varint = function () use ($b, &$at): int {
		for ($v = 0, $shift = 0;; $shift += 7) {
			$byte = ord($b[$at++]);
			$v |= ($byte & 0x7f) << $shift;
			if ($byte < 0x80)
				return $v;
		}
	};
	for ($at = 0, $fields = []; $at < strlen($b); ) {
		$tag = $varint();
		if (($tag & 7) === 0) {
			$fields[$tag >> 3][] = $varint();
		} elseif (($tag & 7) === 2) {
			$n = $varint();
			$fields[$tag >> 3][] = substr($b, $at, $n);
			$at += $n;
		} else {
			throw new Exception("wire type in $tag");
		}
	}
	if ($at !== strlen($b))
		throw new Exception('message is cut off');
	return $fields;
}

function packed(string $b): array
{
	for ($i = 0, $list = [], $v = 0, $shift = 0; $i < strlen($b); $i++) {
		$v |= (ord($b[$i]) & 0x7f) << $shift;
		$shift += 7;
		if (ord($b[$i]) < 0x80) {
			$list[] = $v;
			$v = $shift = 0;
		}
	}
	return $list;
}

/* Unpacks the gzip frame by hand, each of its checks made. */
function gunzip(string $b): string
{
	check(substr($b, 0, 10) === "\x1f\x8b\x08\0\0\0\0\0\0\xff", 'gzip header');
	for ($at = 10, $out = '', $last = false; !$last; $at += 5 + $n) {
		$last = ord($b[$at]) === 1;
		['n' => $n, 'inverse' => $inverse] = unpack('vn/vinverse', $b, $at + 1);
		check(($n ^ $inverse) === 0xffff && ord($b[$at]) <= 1, 'a stored block');
		$out .= substr($b, $at + 5, $n);
	}
	check(unpack('Vcrc/Vsize', $b, $at) === ['crc' => crc32($out), 'size' => strlen($out)] && strlen($b) === $at + 8, 'gzip trailer');
	if (function_exists('gzdecode'))
		check(gzdecode($b) === $out, 'zlib reads it');
	return $out;
}

/* The profile as pprof sees it: stack => values by type. */
function pprof(Profile $p): array
{
	$m = proto(gunzip($p->toPprof()));
	$text = fn($i) => $m[6][$i];
	check($m[6][0] === '' && count(array_unique($m[6])) === count($m[6]), 'string table');
	$types = array_map(fn($t) => [$text(proto($t)[1][0]), $text(proto($t)[2][0])], $m[1]);
	check(array_column($types, 1, 0) === $p->getMetrics(), 'pprof has all metrics: ' . json_encode($types));
	$functions = $locations = $stacks = [];
	foreach ($m[5] as $f) {
		$f = proto($f);
		$functions[$f[1][0]] = $text($f[2][0]);
	}
	foreach ($m[4] as $l) {
		$l = proto($l);
		$locations[$l[1][0]] = $functions[proto($l[4][0])[1][0]];
	}
	foreach ($m[2] as $s) {
		$s = proto($s);
		$stack = implode(';', array_map(fn($l) => $locations[$l], array_reverse(packed($s[1][0]))));
		foreach (packed($s[2][0]) as $k => $v)
			$stacks[$stack][$types[$k][0]] = ($stacks[$stack][$types[$k][0]] ?? 0) + $v;
		check(count(packed($s[2][0])) === count($types), 'one value per type');
	}
	check($m[9][0] > 1.6e18 && ($m[10][0] ?? 0) === (int)round($p->getDuration() * 1e9), 'times');
	return $stacks;
}

function folded(Profile $p, ?string $metric): array
{
	$stacks = [];
	foreach (array_filter(explode("\n", $p->toFolded($metric)), 'strlen') as $line) {
		$stack = substr($line, 0, strrpos($line, ' '));
		$stacks[$stack] = ($stacks[$stack] ?? 0) + (int)substr($line, strrpos($line, ' ') + 1);
	}
	return $stacks;
}

/* Checks a speedscope file by its schema; returns its stacks. */
function speedscope(array $s): array
{
	check($s['$schema'] === 'https://www.speedscope.app/file-format-schema.json' && array_is_list($s['shared']['frames']) && count($s['profiles']) === 1, 'the file');
	foreach ($s['shared']['frames'] as $f)
		check(is_string($f['name']) && is_string($f['file'] ?? '') && is_int($f['line'] ?? 0) && !array_diff(array_keys($f), ['name', 'file', 'line', 'col']), 'a frame');
	$p = $s['profiles'][0];
	check(array_keys($p) === ['type', 'name', 'unit', 'startValue', 'endValue', 'samples', 'weights'] && $p['type'] === 'sampled' && is_string($p['name']) && $p['startValue'] === 0, 'the profile');
	check(in_array($p['unit'], ['bytes', 'microseconds', 'milliseconds', 'nanoseconds', 'none', 'seconds'], true), "unit $p[unit]");
	check(count($p['samples']) === count($p['weights']) && $p['endValue'] === array_sum($p['weights']) && (!$p['weights'] || min($p['weights']) > 0), 'weights');
	$stacks = [];
	foreach ($p['samples'] as $i => $sample) {
		$stack = implode(';', array_map(fn($f) => $s['shared']['frames'][$f]['name'], $sample));
		$stacks[$stack] = ($stacks[$stack] ?? 0) + $p['weights'][$i];
	}
	return $stacks;
}

function sorted(array $a): array
{
	ksort($a);
	return $a;
}

/* All forms of a profile say the same. */
function compare(Profile $p, string $what): void
{
	$pprof = pprof($p);
	$totals = $p->getTotals();
	$functions = $p->getFunctions();
	foreach ($p->getMetrics() as $metric => $unit) {
		$folded = folded($p, $metric);
		$positive = array_filter(array_map(fn($v) => $v[$metric], $pprof), fn($v) => $v > 0);
		check(sorted($folded) === sorted($positive), "$what: pprof and folded $metric");
		check(sorted(speedscope($p->toSpeedscope($metric))) === sorted($folded), "$what: speedscope and folded $metric");
		check(array_sum(array_column($pprof, $metric)) === $totals[$metric], "$what: sum of $metric");
		if ($metric !== 'calls')
			check(array_sum(array_column(array_column($functions, 'exclusive'), $metric)) === $totals[$metric] && $functions[array_search('main()', array_column($functions, 'name'))]['inclusive'][$metric] === $totals[$metric], "$what: functions of $metric");
		else
			check(array_sum(array_column($functions, 'calls')) === $totals['calls'], "$what: calls of functions");
	}
	$xhprof = $p->toXhprof();
	check(array_sum(array_column($xhprof, 'ct')) === $totals['calls'], "$what: calls in xhprof's array");
	if (isset($totals['wall_ns']))
		check($xhprof['main()']['wt'] === intdiv($totals['wall_ns'], 1000) || abs($xhprof['main()']['wt'] - $totals['wall_ns'] / 1000) <= 1, "$what: time in xhprof's array");
	check(json_decode(json_encode($p), true) === json_decode(json_encode($p->toSpeedscope()), true), "$what: json_encode");
}

class Shop
{
	function price(int $n): int { usleep(100); return $n ? $this->price($n - 1) : 1; }
	static function __callStatic($name, $a) { return (fn() => array_map(fn($x) => $x + 1, $a))(); }
}
const FIB = __LINE__ + 1;
function fib($n) { return $n < 2 ? $n : fib($n - 1) + fib($n - 2); }
function gen($n) { for ($i = 0; $i < $n; $i++) yield strrev("$i"); }
function work() { (new Shop)->price(3); Shop::anything(1, 2); fib(8); foreach (gen(5) as $x); $o = new class { function run() { return str_repeat('x', 1000); } }; return $o->run(); }

$t = Trace::start(63 & ~32);
work();
work();
$p = $t->stop();
compare($p, 'a program');
$functions = array_column($p->getFunctions(), null, 'name');
check($functions['fib']['calls'] === 134 && $functions['fib']['line'] === FIB && str_ends_with($functions['fib']['file'], 'api_profile.php'), json_encode($functions['fib']));
check($functions['Shop::price']['calls'] === 8 && $functions['usleep']['calls'] === 8 && $functions['usleep']['file'] === null && $functions['usleep']['line'] === 0, 'methods');
check($functions['Shop::price']['inclusive']['wall_ns'] >= $functions['usleep']['inclusive']['wall_ns'] && $functions['Shop::price']['inclusive']['wall_ns'] <= $p->getTotals()['wall_ns'], 'recursion counts once: ' . json_encode($functions['Shop::price']));
check($functions['work']['inclusive']['allocations'] > 0, 'allocations');
$exclusive = array_map(fn($f) => $f['exclusive']['wall_ns'], $p->getFunctions());
$order = $exclusive;
rsort($order);
check($exclusive === $order, 'the dearest is the first');
$xhprof = $p->toXhprof();
check($xhprof['main()==>work']['ct'] === 2 && $xhprof['Shop::price@2==>Shop::price@3']['ct'] === 2 && $xhprof['fib==>fib@1']['ct'] === 4, 'edges: ' . json_encode(array_keys($xhprof)));

$t = Trace::start(Strobe\COUNTS);
work();
$p = $t->stop();
compare($p, 'counts only');
check($p->toFolded() === $p->toFolded('calls') && $p->getFunctions()[0]['name'] === 'fib' && $p->getFunctions()[0]['inclusive'] === [], 'counts are what it has');
$t = Trace::start();
compare($t->stop(), 'next to nothing');

// A recursion deeper than any format wants.
function deep($n) { return $n ? deep($n - 1) : strlen(str_repeat('x', $n + 3)); }
foreach ([509, 510, 511, 512, 513, 50000] as $depth) {
	$t = Trace::start(Strobe\WALL);
	deep($depth);
	$p = $t->stop();
	compare($p, "depth $depth");
	check(count($p) === $depth + 3 && $p->getTotals()['calls'] === $depth + 4, "depth $depth: " . count($p));
	$lines = explode("\n", trim($p->toFolded('calls')));
	$frames = max(array_map(fn($l) => substr_count($l, ';') + 1, $lines));
	check($frames === min($depth + 3, 513) && count(preg_grep('/;\[elided\] \d+$/', $lines)) === (int)($depth + 3 > 512), "depth $depth has $frames frames");
	$deep = array_column($p->getFunctions(), null, 'name')['deep'];
	check($deep['calls'] === $depth + 1 && $deep['inclusive']['wall_ns'] <= $p->getTotals()['wall_ns'], 'functions know no limit');
}

// Any name.
$names = ["caf\xe9", "\xff\xfe", "日本", "_\xed\xa0\x80", str_repeat('n', 70000)];
foreach ($names as $name)
	eval("function {$name}() { return 1; }");
eval("namespace A\\B; class C { function m() {} }");
$t = Trace::start(Strobe\COUNTS);
foreach ($names as $name)
	$name();
(new A\B\C)->m();
$p = $t->stop();
$json = json_encode($p);
check($json !== false && json_last_error() === 0, 'JSON of any name: ' . json_last_error_msg());
$got = array_column($p->toSpeedscope()['shared']['frames'], 'name');
foreach (["caf\u{fffd}", "\u{fffd}\u{fffd}", '日本', "_\u{fffd}\u{fffd}\u{fffd}", 'A\B\C::m'] as $name)
	check(in_array($name, $got, true), 'a frame ' . json_encode($name) . ' of ' . json_encode(array_map(fn($n) => substr($n, 0, 20), $got)));
check(str_contains($p->toFolded(), "main();caf\xe9 1\n") && str_contains($p->toFolded(), "main();\xff\xfe 1\n"), 'folded text keeps the bytes');
check(max(array_map('strlen', array_column($p->getFunctions(), 'name'))) === 65535, 'a very long one is cut');
$file = sys_get_temp_dir() . '/strobe;a b' . getmypid() . '.php';
file_put_contents($file, '<?php (function () { return 1; })();');
$t = Trace::start(Strobe\COUNTS);
require $file;
$p = $t->stop();
unlink($file);
$name = strtr($file, ';', '_');
check(str_contains($p->toFolded(), "main();$name 1\nmain();$name;{closure:$name(1)} 1\n"), 'folded: ' . $p->toFolded());
echo "done\n";
?>
--EXPECT--
done
