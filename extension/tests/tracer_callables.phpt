--TEST--
A closure created from a function is that function, whichever is called first; real closures differ by their bound object
--INI--
strobe.compat=xhprof,uprofiler
--FILE--
<?php
require __DIR__ . '/tracer.inc';
require __DIR__ . '/edges.inc';

function slugify($s) { return strtolower($s); }
function other($s) { return strtolower($s); }
class Norm {
	public $suffix = '!';
	public function clean($s) { return trim($s); }
	public static function fixed($s) { return $s; }
	public function __call($name, $arguments) { return 1; }
	public function __invoke($s) { return $s; }
}
class Sub extends Norm {}

function traced(string $what, callable $f, array $expected): void
{
	foreach (['first', 'second'] as $time) {
		$trace = Strobe\Trace::start(Strobe\COUNTS, ['files' => false]);
		$f();
		$got = [];
		foreach (paths($trace->stop(), 'calls') as $path => $calls) {
			$name = substr($path, (int)strrpos(";$path", ';'));
			if (!in_array($name, ['strtolower', 'trim', 'array_map', 'Closure::fromCallable', 'Closure::call', 'Closure::bind']) && $path !== '{closure}')
				$got[$name] = ($got[$name] ?? 0) + $calls;
		}
		check_calls("$what, the $time time", $got, $expected);
	}
}

traced('callable first', function () { array_map(slugify(...), ['A', 'B']); for ($i = 0; $i < 5; $i++) slugify('C'); },
	['slugify' => 7]);
traced('function first', function () { other('A'); array_map(other(...), ['A', 'B']); array_map(Closure::fromCallable('other'), ['z']); other('C'); },
	['other' => 5]);
traced('methods', function () {
	$o = new Norm;
	array_map($o->clean(...), [' a ', 'b']);
	$o->clean('c');
	array_map([$o, 'clean'], ['d']);
	array_map(Norm::fixed(...), [1, 2]);
	Norm::fixed(3);
	$f = Closure::fromCallable([new Sub, 'clean']);
	$f('e');
	(new Sub)->clean('f');
	array_map((new Norm)->__invoke(...), [1]);
	(new Norm)(2);
	$f = (new Norm)->missing(...);
	$f();
}, ['Norm::clean' => 6, 'Norm::fixed' => 3, 'Norm::__invoke' => 2, 'Norm::__call' => 1]);
traced('bound to an object', function () { $f = (new Norm)->clean(...); $f->call(new Norm, "x"); (new Norm)->clean('y'); Closure::bind($f, new Sub)('z'); },
	['Norm::clean' => 3]);
traced('internal functions', function () { $f = strrev(...); $f('a'); array_map($f, ['b', 'c']); strrev('d'); $f = ucfirst(...); $f('e'); $f = (new ArrayObject([1]))->count(...); $f(); },
	['strrev' => 4, 'ucfirst' => 1, 'ArrayObject::__construct' => 1, 'ArrayObject::count' => 1]);

/* Closures of internal functions are freed and others take their place in memory. */
traced('gone and made anew', function () { for ($i = 0; $i < 100; $i++) { $f = [strrev(...), ucfirst(...), lcfirst(...), slugify(...)][$i % 4]; $f('x'); unset($f); } },
	['strrev' => 25, 'ucfirst' => 25, 'lcfirst' => 25, 'slugify' => 25]);

/* The array of xhprof and of uprofiler. */
foreach (['xhprof', 'uprofiler'] as $api) {
	"{$api}_enable"();
	array_map(slugify(...), ['A', 'B']);
	slugify('C');
	array_map((new Norm)->clean(...), ['d']);
	$edges = "{$api}_disable"();
	check_edges($edges);
	check($edges['array_map==>slugify']['ct'] === 2 && $edges['main()==>slugify']['ct'] === 1 && $edges['array_map==>Norm::clean']['ct'] === 1,
		"$api: " . json_encode(calls($edges)));
	check(!preg_grep('/closure/', array_keys($edges)), "$api: no closure ran");
}

/* One closure bound to several classes, also for the time of one call. */
$bound = function ($s) { return $s . $this->suffix; };
class Other { public $suffix = '?'; }
$trace = Strobe\Trace::start(Strobe\COUNTS);
for ($i = 0; $i < 3; $i++) {
	$bound->call(new Norm, 'x');
	$bound->call(new Other, 'x');
	Closure::bind($bound, new Other, Other::class)('y');
}
$calls = [];
foreach ($trace->stop()->toXhprof() as $edge => $values)
	if (preg_match('~==>(\w+)::\{closure\}~', $edge, $m))
		$calls[$m[1]] = ($calls[$m[1]] ?? 0) + $values['ct'];
check_calls('one closure in two classes', $calls, ['Norm' => 3, 'Other' => 6]);
echo "done\n";
?>
--EXPECT--
done
