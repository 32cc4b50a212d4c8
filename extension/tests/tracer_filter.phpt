--TEST--
Strobe\Trace::start() leaves out functions in `exclude` and those not in `include`: remaining calls move below the next caller, and no time is lost
--INI--
strobe.instrument=1
--FILE--
<?php
namespace App\Deep { class Cart { static function price() { return \strrev('x' . \Lib\round2(1)); } static function each($f) { return $f(1); } } }
namespace Lib { function round2($x) { return \ucfirst("x$x"); } class Base { function run() { return (function () { return \App\Deep\Cart::price(); })(); } function __call($n, $a) { return 1; } } }
namespace {
require __DIR__ . '/tracer.inc';

function go() {
	App\Deep\Cart::price();
	(new Lib\Base)->run();
	App\Deep\Cart::each(fn($x) => Lib\round2($x));
	eval('Lib\round2(2);');
	usleep(2000);
}

function traced(array $options, int $metrics = Strobe\COUNTS): array
{
	$trace = Strobe\Trace::start($metrics, $options);
	go();
	return paths($trace->stop(), 'calls');
}

$eval = "tracer_filter.php : eval()'d code";
check_calls('nothing is left out', traced([]), ['go' => 1, 'go;App\Deep\Cart::price' => 1, 'go;App\Deep\Cart::price;Lib\round2' => 1,
	'go;App\Deep\Cart::price;Lib\round2;ucfirst' => 1, 'go;App\Deep\Cart::price;strrev' => 1, 'go;Lib\Base::run' => 1, 'go;Lib\Base::run;{closure}' => 1,
	'go;Lib\Base::run;{closure};App\Deep\Cart::price' => 1, 'go;Lib\Base::run;{closure};App\Deep\Cart::price;Lib\round2' => 1,
	'go;Lib\Base::run;{closure};App\Deep\Cart::price;Lib\round2;ucfirst' => 1, 'go;Lib\Base::run;{closure};App\Deep\Cart::price;strrev' => 1,
	'go;App\Deep\Cart::each' => 1, 'go;App\Deep\Cart::each;{closure}' => 1, 'go;App\Deep\Cart::each;{closure};Lib\round2' => 1,
	'go;App\Deep\Cart::each;{closure};Lib\round2;ucfirst' => 1, "go;$eval" => 1, "go;$eval;Lib\\round2" => 1, "go;$eval;Lib\\round2;ucfirst" => 1,
	'go;usleep' => 1]);
check_calls('names', traced(['exclude' => ['strrev', 'App\Deep\Cart::price', 'GO'], 'files' => false]), ['Lib\round2' => 2, 'Lib\round2;ucfirst' => 2,
	'Lib\Base::run' => 1, 'Lib\Base::run;{closure}' => 1, 'Lib\Base::run;{closure};Lib\round2' => 1, 'Lib\Base::run;{closure};Lib\round2;ucfirst' => 1,
	'App\Deep\Cart::each' => 1, 'App\Deep\Cart::each;{closure}' => 1, 'App\Deep\Cart::each;{closure};Lib\round2' => 1,
	'App\Deep\Cart::each;{closure};Lib\round2;ucfirst' => 1, 'usleep' => 1]);
check_calls('a namespace, and its closures', traced(['exclude' => '\lib\*', 'internals' => false, 'files' => false]), ['go' => 1, 'go;App\Deep\Cart::price' => 2,
	'go;App\Deep\Cart::each' => 1, 'go;App\Deep\Cart::each;{closure}' => 1]);
check_calls('only a class', traced(['include' => ['App\Deep\Cart::*']]), ['App\Deep\Cart::price' => 2, 'App\Deep\Cart::each' => 1]);
check_calls('both', traced(['include' => ['*\*'], 'exclude' => '*::price']), ['Lib\round2' => 2, 'Lib\Base::run' => 1, 'Lib\Base::run;{closure}' => 1,
	'Lib\Base::run;{closure};Lib\round2' => 1, 'App\Deep\Cart::each' => 1, 'App\Deep\Cart::each;Lib\round2' => 1]);
check_calls('closures', traced(['include' => ['*{closure}', 'go'], 'internals' => false]), ['go' => 1, 'go;{closure}' => 2]);
check_calls('scripts', traced(['include' => '*/tracer_filter.php*']), [$eval => 1]);
check_calls('nothing', traced(['exclude' => '*']), []);
check_calls('no patterns', traced(['exclude' => [], 'include' => ['*go', 'us*ep']]), ['go' => 1, 'go;usleep' => 1]);

/* Time is that of the caller, exact and sampled; another trace is not concerned. */
foreach ([Strobe\WALL, Strobe\SAMPLED_WALL] as $metric) {
	$other = Strobe\Trace::start($metric);
	$trace = Strobe\Trace::start($metric, ['exclude' => ['usleep', 'busy', 'hrtime']]);
	sleeps();
	$profile = $trace->stop();
	$all = array_column($other->stop()->getFunctions(), null, 'name');
	$functions = array_column($profile->getFunctions(), null, 'name');
	/* If the machine has no processor for the ticking thread, the last of the sampled time goes to the call that runs when it has. */
	check(!isset($functions['usleep'], $functions['busy']) && $functions['sleeps']['exclusive']['wall_ns'] > 250e6, json_encode($functions['sleeps']));
	check($all['usleep']['calls'] === 10 && ($metric !== Strobe\WALL || $all['sleeps']['exclusive']['wall_ns'] < $functions['sleeps']['exclusive']['wall_ns'] - 390e6),
		json_encode([$all['sleeps'], $functions['sleeps']]));
}
function sleeps() { for ($i = 0; $i < 10; $i++) { usleep(20000); busy(); } }
function busy() { for ($end = hrtime(true) + 2e7; hrtime(true) < $end;); }

foreach ([['exclude' => 5], ['include' => ['a', null]], ['exclude' => ''], ['include' => ['']], ['exclude' => ['a'], 'files' => 1]] as $wrong)
	try {
		Strobe\Trace::start(0, $wrong);
	} catch (Error $e) {
		echo get_class($e), ': ', $e->getMessage(), "\n";
	}
echo "done\n";
}
?>
--EXPECT--
TypeError: Strobe\Trace::start(): Argument #2 ($options) must have a string or a list of strings as "exclude", int given
TypeError: Strobe\Trace::start(): Argument #2 ($options) must have a string or a list of strings as "include", null given
ValueError: Strobe\Trace::start(): Argument #2 ($options) must have no empty name in "exclude"
ValueError: Strobe\Trace::start(): Argument #2 ($options) must have no empty name in "include"
TypeError: Strobe\Trace::start(): Argument #2 ($options) must have a bool as "files", int given
done
