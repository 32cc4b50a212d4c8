--TEST--
Samples have the executed line of the leaf and the calling lines of its callers: functions, methods, closures, generators, callbacks, includes; without strobe.lines functions are the same and have no lines
--EXTENSIONS--
sockets
--FILE--
<?php
require __DIR__ . '/strobe.inc';

define('JIT', str_contains(getenv('STROBE_TEST_INI') ?: '', 'jit'));
$code = <<<'PHP'
<?php
function work(int $rounds): string
{
	$data = str_repeat('x', 20000);
	for ($i = 0, $s = ''; $i < $rounds; $i++) {
		$s = hash('sha256', $data);
		$s = hash('sha256', $data . $data) . hash(
			'sha256',
			$data);
	}
	return $s;
}
class Shop
{
	public static function twice($a, $b)
	{
		work($a); work($b);
	}
	function run()
	{
		$this->twice(10, 10);
		self::twice(
			a: 20,
			b: 40,
		);
		return $this->own;
	}
	function __get($name)
	{
		return work(30);
	}
	function numbers()
	{
		yield work(10);

		yield work(30);
	}
}
function loop(int $n): int
{
	$x = 1;
	for ($i = 0; $i < $n; $i++) {
		$x = ($x * 3 + $i) & 0xffff;
		$x = ($x * 5 + $i) & 0xffff; $x = ($x * 7 + $i) & 0xffff; $x = ($x * 9 + $i) & 0xffff;
	}
	return $x;
}
for ($end = cpu() + 0.5; cpu() < $end;) {
	(new Shop)->run();
	foreach ((new Shop)->numbers() as $s)
		loop(250000);
	array_map(function ($n) {
		work($n);
		work(3 * $n);
	}, [10]);
	try {
		throw new Exception(work(20));
	} catch (Exception $e) {
		loop(250000);
	} finally {
		work(20);
	}
	eval("work(10);\nwork(30);");
}
function cpu(): float
{
	$u = getrusage();
	return $u['ru_utime.tv_sec'] + $u['ru_stime.tv_sec'] + ($u['ru_utime.tv_usec'] + $u['ru_stime.tv_usec']) / 1e6;
}
PHP;
/* Samples by function and line: in all, and as leaves. */
function by_line(Run $run): array
{
	$all = $leaves = [];
	foreach ($run->lines() as $path => $samples) {
		$frames = explode(';', preg_replace('~/[^;]*script\.php~', 'S', $path));
		foreach (array_unique($frames) as $frame)
			$all[$frame] = ($all[$frame] ?? 0) + $samples;
		$leaves[end($frames)] = ($leaves[end($frames)] ?? 0) + $samples;
	}
	return [$all, $leaves];
}

/* Shares of one function: lines and their parts. */
function wrong_shares(array $samples, string $f, array $parts): array
{
	$sum = array_sum(array_map(fn($line) => $samples["$f:$line"] ?? 0, array_keys($parts)));
	$wrong = $sum > 50 ? [] : ["$f: $sum samples"];
	foreach ($parts as $line => $part)
		if (abs(($samples["$f:$line"] ?? 0) / max(1, $sum) - $part / array_sum($parts)) >= 0.15)
			$wrong[] = "$f:$line: " . ($samples["$f:$line"] ?? 0) . " of $sum";
	return $wrong;
}

function wrong_lines(Run $run): array
{
	[$all, $leaves] = by_line($run);
	$unknown = array_sum(array_filter($leaves, fn($f) => preg_match('/^(work|loop|cpu|S|Shop::\w+):0$/', $f), ARRAY_FILTER_USE_KEY));
	return [...wrong_shares($all, 'work', [6 => 1, 7 => 3]), ...wrong_shares($all, 'Shop::run', [21 => 2, 22 => 6, 26 => 3]),
		...wrong_shares($all, 'Shop::numbers', [34 => 1, 36 => 3]), ...wrong_shares($all, '{closure:S(52)}', [53 => 1, 54 => 3]),
		...wrong_shares($all, "S(63) : eval()'d code", [1 => 1, 2 => 3]),
		...wrong_shares($all, 'S', [49 => 11, 50 => 4, 52 => 4, 57 => 2, 61 => 2, 63 => 4]),
		...(JIT ? [] : wrong_shares($leaves, 'loop', [43 => 1, 44 => 3])),
		...(JIT || $unknown <= 0.03 * $run->samples() ? [] : ["$unknown samples of {$run->samples()} have no line"])];
}

$run = profile_until('wrong_lines', $code, ['strobe.clock' => 'cpu', 'strobe.period' => '0.0005']);
check($run->status === 0 && $run->stdout . $run->stderr === '', "the program runs: $run->stdout$run->stderr");
check(in_array(2, array_column($run->messages, 'version'), true), 'lines are in messages of version 2');

/* No line but those with code, and none of what has no source here. 0 is a frame that was just being entered, and what compiled
 * code ran itself. */
$seen = [];
foreach (by_line($run)[0] as $frame => $samples) {
	preg_match('/^(.*):(\d+)$/', $frame, $m);
	$seen[$m[1]][(int)$m[2]] = true;
}
$own = ['work' => range(2, 11), 'Shop::twice' => [15, 17], 'Shop::run' => range(19, 26), 'Shop::__get' => range(28, 31), 'Shop::numbers' => range(32, 37),
	'loop' => range(39, 46), '{closure:S(52)}' => range(52, 55), 'S' => range(48, 64), 'cpu' => range(65, 68), "S(63) : eval()'d code" => [1, 2]];
foreach ($seen as $f => $lines)
	foreach (array_keys($lines) as $line)
		check($line === 0 || in_array($line, $own[$f] ?? [], true), "a line of $f: $line");
if (JIT)
	check(!isset($seen['loop'][43]) && !isset($seen['loop'][44]) && isset($seen['loop'][0]), 'where compiled code is nobody knows');

/* While an exception is on its way, a frame is where it was thrown. */
$by_path = function (Run $run): array {
	$sums = [];
	foreach ($run->lines() as $path => $samples)
		$sums[preg_replace('~/[^;]*script\.php~', 'S', $path)] = $samples;
	return $sums;
};
$thrown = profile_until(fn(Run $run) => ($by_path($run)['S:21;calls:17;D::__destruct:6;hash:0'] ?? 0) > 0.5 * $run->samples() ? [] : ['thrown: ' . json_encode($by_path($run))], '<?php
class D
{
	function __destruct()
	{
		hash("sha256", $GLOBALS["x"]);
	}
}
function takes($a, $b) {}
function fails()
{
	throw new Exception;
}
function calls()
{
	takes(new D,
		fails());
}
for ($i = 0, $x = str_repeat("x", 3000000); $i < 15; $i++)
	try {
		calls();
	} catch (Exception $e) {
	}
', ['strobe.clock' => 'cpu']);
foreach (array_keys($by_path($thrown)) as $path)
	check(!str_contains($path, 'D::__destruct') || preg_match('/^S:21;calls:17;D::__destruct:[0567](;|$)/', $path), "thrown: $path");

/* The same functions with and without, each from as many runs as it takes. */
$compared = ['hash', 'loop', 'Shop::run', 'Shop::twice', 'Shop::numbers', 'array_map'];
$differ = fn(Run $one, Run $other) => array_filter($compared, fn($f) => abs($one->share($f) - $other->share($f)) >= 0.08);
$with = new Receiver();
$with->messages = $run->messages;
$plain = profile_until(function (Run $plain) use ($code, $with, $differ, &$run) {
	if ($differ($plain, $run))
		$run = profile($code, ['strobe.clock' => 'cpu', 'strobe.period' => '0.0005'], receiver: $with);
	return array_map(fn($f) => "$f: {$plain->share($f)} without lines, {$run->share($f)} with them", $differ($plain, $run));
}, $code, ['strobe.clock' => 'cpu', 'strobe.period' => '0.0005', 'strobe.lines' => '0']);
check(array_unique(array_column($plain->messages, 'version')) === [1], 'without lines the version is 1');
echo "done\n";
?>
--EXPECT--
done
