--TEST--
Calls of every kind appear in a trace below their caller with exact counts
--INI--
strobe.instrument=1
--FILE--
<?php
require __DIR__ . '/tracer.inc';

/* opcache would replace a call with constant arguments. */
function a(int $n) { return $n ? b($n - 1) : strrev("x$n"); }
function b(int $n) { return a($n); }
function generator() { try { yield 1; yield from delegate(); } finally { abs(1); } }
function delegate() { yield 2; throw new LogicException('x'); }
function thrower() { throw new Special('x'); }
class Special extends Exception { function __construct($m) { parent::__construct($m); } }
class Magic {
	function __call($name, $arguments) { return abs($GLOBALS["i"] ?? 1); }	// opcache of 8.4 computes abs(1) itself
	static function __callStatic($name, $arguments) { return 1; }
	function __get($name) { return 2; }
	function __toString(): string { return 's'; }
	function __destruct() { a(0); }
	static function make() { return new static; }
}
trait Shared { function shared() { return static::class; } }
class User { use Shared; }
class Child extends User { function shared() { return parent::shared(); } }

check_calls('mutual recursion', calls_of(function () { a(2); }), ['{closure}' => 1,
	'{closure};a' => 1, '{closure};a;b' => 1, '{closure};a;b;a' => 1,
	'{closure};a;b;a;b' => 1, '{closure};a;b;a;b;a' => 1,
	'{closure};a;b;a;b;a;strrev' => 1]);

/* Calls in `$code` appear right below main(). */
function traced(string $what, string $code, array $expected, array $options = []): void
{
	$trace = Strobe\Trace::start(Strobe\COUNTS, ['files' => false] + $options);
	eval($code);
	check_calls($what, paths($trace->stop(), 'calls'), $expected);
}

traced('callbacks', 'array_map("a", [0, 0]); $l = [3, 1, 2]; usort($l, "strcmp"); call_user_func_array("a", [0]);',
	['array_map' => 1, 'array_map;a' => 2, 'array_map;a;strrev' => 2, 'usort' => 1, 'usort;strcmp' => 3, 'a' => 1, 'a;strrev' => 1]);
traced('magic methods', '$m = Magic::make(); $m->foo(); Magic::bar(); $m->x; "$m"; $f = Closure::fromCallable([$m, "foo"]); $f(); $f = $m = null;',
	['Magic::make' => 1, 'Magic::__call' => 2, 'Magic::__call;abs' => 2, 'Magic::__callStatic' => 1, 'Magic::__get' => 1,
	'Magic::__toString' => 1, 'Closure::fromCallable' => 1, 'Magic::__destruct' => 1, 'Magic::__destruct;a' => 1,
	'Magic::__destruct;a;strrev' => 1]);
traced('exceptions', 'try { thrower(); } catch (Special) {} try { array_map("thrower", [1]); } catch (Special) {} abs(1);',
	['thrower' => 1, 'thrower;Special::__construct' => 1, 'thrower;Special::__construct;Exception::__construct' => 1,
	'array_map' => 1, 'array_map;thrower' => 1, 'array_map;thrower;Special::__construct' => 1,
	'array_map;thrower;Special::__construct;Exception::__construct' => 1, 'abs' => 1]);
/* A resumption is a call; what a generator delegates to is resumed by itself. */
traced('generators', 'try { foreach (generator() as $x); } catch (LogicException) {} $g = generator(); $g->current(); unset($g);',
	['generator' => 4, 'generator;abs' => 2, 'delegate' => 2, 'delegate;Exception::__construct' => 1, 'Generator::current' => 1,
	'Generator::current;generator' => 1]);
traced('methods', '(new User)->shared(); (new Child)->shared(); $f = (new Child)->shared(...); $f();',
	['User::shared' => 1, 'Child::shared' => 2, 'Child::shared;User::shared' => 2]);
traced('no internal functions', 'a(1); array_map("a", [0]);', ['a' => 2, 'a;b' => 1, 'a;b;a' => 1], ['internals' => false]);

/* Files and eval, with their compilation. */
$directory = sys_get_temp_dir() . '/strobe-test-' . getmypid();
mkdir($directory);
file_put_contents("$directory/one.php", '<?php function one() { return abs($GLOBALS["i"] ?? 1); } return (function () { return one(); })();');
file_put_contents("$directory/two.php", '<?php return (fn() => strrev("x$i"))();');
$trace = Strobe\Trace::start(Strobe\COUNTS, ['files' => true, 'loads' => true]);
include "$directory/one.php";
for ($i = 0; $i < 3; $i++)
	include "$directory/two.php";
eval('one(); eval("one();");');
$got = paths($trace->stop(), 'calls');
array_map('unlink', glob("$directory/*"));
rmdir($directory);
$eval = "tracer_calls.php : eval()'d code";
foreach (['one.php' => 1, 'one.php;{closure};one;abs' => 1, 'two.php' => 3, 'two.php;{closure}' => 3,
	'two.php;{closure};strrev' => 3, $eval => 1, "$eval;one" => 1, "$eval;$eval : eval()'d code;one" => 1,
	"compile $eval" => 1] as $path => $calls)
	check(($got[$path] ?? 0) === $calls, "files: $path $calls times: " . json_encode($got));
foreach (['one.php' => 1, 'two.php' => 3] as $file => $calls)
	check(array_sum(array_filter($got, fn($p) => str_starts_with($p, 'compile') && str_ends_with($p, $file), ARRAY_FILTER_USE_KEY)) === $calls,
		"$file is compiled $calls times: " . json_encode($got));
echo "done\n";
?>
--EXPECT--
done
