--TEST--
A sample never has a caller that did not call it: functions of a few nanoseconds, alternating methods and internal functions, included files
--EXTENSIONS--
sockets
--FILE--
<?php
require __DIR__ . '/strobe.inc';

$long = fn(int $n): string => str_repeat('$x = ($x * 3 + 7) % 1000003; ', $n);
/* Two calls of one function may follow each other so quickly that they look like one; where a tick is late, such a stack counts for many. */
function wrong_callers(Run $run): array
{
	$callers = ['x' => 'a', 'y' => 'b', 'strrev' => 's', 'C::z' => 'C::run'];
	$right = $wrong = 0;
	foreach ($run->sampled() as $m)
		foreach ($m['stacks'] as [$path, $n]) {
			$leaf = array_pop($path);
			if (!isset($callers[$leaf]))
				continue;
			if (end($path) === $callers[$leaf])
				$right += $n;
			else
				$wrong += $n;
		}
	/* It takes most of the time, and has ended when the sample is taken: only the note of the ticking thread knows that it ran. */
	$least = getenv('ASAN_OPTIONS') || str_contains(getenv('STROBE_TEST_INI') ?: '', 'jit') ? 0.05 : 0.1;
	return $right > 200 && $wrong < 0.02 * $right && $run->share('C::z') > $least ? [] : ["$right right, $wrong wrong: " . json_encode($run->stacks())];
}
[$ms, $more, $includes] = in_full() ? ['2000', '3000', 600] : ['300', '400', 150];
$run = profile_until('wrong_callers', '<?php
function cpu_ms() { $u = getrusage(); return $u["ru_utime.tv_sec"] * 1000 + $u["ru_utime.tv_usec"] / 1000; }
function x($a) { return $a + 1; }
function y($a) { return $a + 2; }
function a($n) { return x($n); }
function b($n) { return y($n); }
function s($n) { return strrev($n); }
class C { function run($n) { return $this->z($n); } private function z($n) { $z = 0; for ($i = 0; $i < 20; $i++) $z += $n; return $z; } }
$c = new C;
for ($end = cpu_ms() + $argv[1]; cpu_ms() < $end;) for ($i = 0; $i < 2000; $i++) { a($i); b($i); s("hello"); $c->run($i); }
', ['strobe.clock' => 'cpu', 'strobe.period' => '0.0005'], [$ms]);
check($run->stdout === '', "the program runs: $run->stdout");

// Methods of one name that call each other in classes that have nothing to do with each other: the wrong pair has the right names.
profile_until(function (Run $run): array {
	$pairs = [];
	foreach ($run->stacks() as $stack => $n)
		if (preg_match('~;each_of;(\w+::run;\w+::z)$~', $stack, $m))
			$pairs[$m[1]] = ($pairs[$m[1]] ?? 0) + $n;
	$called = array_flip(['A::run;A::z', 'B::run;B::z', 'C::run;C::z', 'D::run;D::z', 'E::run;E0::z', 'E::run;F::z']);
	return !array_diff_key($called, $pairs) && array_sum(array_diff_key($pairs, $called)) <= 0.01 * array_sum($pairs) ? [] : [json_encode($pairs)];
}, '<?php
function cpu_ms() { $u = getrusage(); return $u["ru_utime.tv_sec"] * 1000 + $u["ru_utime.tv_usec"] / 1000; }
class A { function run($n) { return $this->z($n); } private function z($n) { return $n + 1; } }
class B { function run($n) { return $this->z($n); } private function z($n) { return $n + 2; } }
class C { static function run($n) { return self::z($n); } static function z($n) { return $n + 3; } }
class D { static function run($n) { return static::z($n); } static function z($n) { return $n + 4; } }
class E0 { function z($n) { return $n + 5; } }
class E extends E0 { function run($n) { return $this->z($n); } }
class F extends E { function z($n) { return $n + 6; } }
function each_of($objects, $i) { foreach ($objects as $o) $o->run($i); }
$objects = [new A, new B, new C, new D, new E, new F];
for ($end = cpu_ms() + $argv[1]; cpu_ms() < $end;) for ($i = 0; $i < 500; $i++) each_of($objects, $i);
', ['strobe.period' => '0.0001'], [$more]);

// Scripts that include each other, and have ended both.
$dir = sys_get_temp_dir() . '/strobe-leaf-pairs-' . getmypid();
mkdir($dir);
file_put_contents("$dir/outer.php", '<?php $x = 1; include __DIR__ . "/inner.php";');
file_put_contents("$dir/inner.php", '<?php $x = 1; ' . $long(15000));
file_put_contents("$dir/main.php", '<?php
function cpu_ms() { $u = getrusage(); return $u["ru_utime.tv_sec"] * 1000 + $u["ru_utime.tv_usec"] / 1000; }
function includes() { include __DIR__ . "/outer.php"; }
opcache_compile_file(__DIR__ . "/inner.php");
for ($end = cpu_ms() + ' . $includes . '; cpu_ms() < $end;) for ($i = 0; $i < 20; $i++) includes();
');
profile_until(function (Run $run) use ($dir): array {
	$all = $run->with('includes');
	$paths = $run->stacks();
	return $all > 50 && ($paths["$dir/main.php;includes;$dir/outer.php;$dir/inner.php"] ?? 0) > 0.8 * $all ? [] : [json_encode($paths)];
}, "$dir/main.php", ['strobe.clock' => 'cpu', 'zend_extension' => 'opcache', 'opcache.enable' => '1', 'opcache.enable_cli' => '1',
	'opcache.optimization_level' => '0x100', 'opcache.file_update_protection' => '0', 'opcache.jit' => 'off']);
array_map('unlink', ["$dir/main.php", "$dir/outer.php", "$dir/inner.php"]);
rmdir($dir);
echo "done\n";
?>
--EXPECT--
done
