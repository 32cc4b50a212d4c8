--TEST--
Functions that have returned since the tick are identified: bound and freed closures, alternating callables, steps of fibers, long names, property hooks
--EXTENSIONS--
sockets
--SKIPIF--
<?php
if (getenv('USE_ZEND_ALLOC') === '0')
	die('skip without the Zend allocator, frames are read by system calls, which take longer than these functions');
--FILE--
<?php
require __DIR__ . '/strobe.inc';

$lines = '$x = 1; ' . str_repeat('$x = ($x * 3 + 7) % 1000003; ', 120);
$work = "$lines return \$x;";
$long = 'f' . str_repeat('o', 300);
$name = 'zhvfqx';
/* The declaration of the function, the call of it, and its name. */
$cases = [
	'closure of another function' => ["function mk() { return function () { $work }; }", 'mk()();', '{closure'],
	'Closure::call()' => ["class Q {} function mk() { return function () { $work }; } \$f = mk(); \$o = new Q;", '$f->call($o);', '{closure'],
	'bindTo()' => ["class Q {} function mk() { return function () { $work }; } \$f = mk(); \$o = new Q;", '$f->bindTo($o, Q::class)();', '{closure'],
	'static closure of a method' => ["class Q { function f() { return static function () { $work }; } } \$o = new Q;", '$o->f()();', 'Q::{closure'],
	'callables in turn' => ["function other() { return 1; } function $name() { $work }", "\$f = $name(...); \$f(); unset(\$f); \$f = other(...); \$f(); unset(\$f);", $name],
	'callables of methods' => ["class Q { function other() { return 1; } function $name() { $work } } \$o = new Q;", "\$f = \$o->$name(...); \$f(); unset(\$f); \$f = \$o->other(...); \$f(); unset(\$f);", "Q::$name"],
	'step of a fiber' => ["function $name() { $work } function steps() { for (;;) { $name(); Fiber::suspend(); } } \$o = new Fiber('steps'); \$o->start();", '$o->resume();', $name],
	'anonymous class' => ["\$o = new class { function $name() { $work } };", "\$o->$name();", "class@anonymous::$name"],
	'long name' => ["function $long() { $work }", "$long();", $long],
];
if (PHP_VERSION_ID >= 80400)
	$cases += ['get hook' => ["class Q { public int \$p { get { $work } } } \$o = new Q;", '$z = $o->p;', 'Q::$p::get'],
		'set hook' => ["class Q { public int \$p { set { $lines } } } \$o = new Q;", '$o->p = 1;', 'Q::$p::set']];
foreach ($cases as $what => [$declared, $call, $callee])
	profile_until(function (Run $run) use ($what, $callee): array {
		$found = 0;
		foreach ($run->stacks() as $stack => $n) {
			$frames = explode(';', $stack);
			$found += str_starts_with(end($frames), $callee) ? $n : 0;
		}
		$all = array_sum($run->stacks());
		/* The rest is what calls it. */
		return $all > 200 && $found > 0.45 * $all && $run->stdout === '' ? [] : ["$what: $found of $all: $run->stdout " . substr(json_encode($run->stacks()), 0, 600)];
	}, "<?php function cpu_ms() { \$u = getrusage(); return \$u['ru_utime.tv_sec'] * 1000 + \$u['ru_utime.tv_usec'] / 1000; } $declared
		function outer() { global \$o, \$f; $call }
		for (\$end = cpu_ms() + 130; cpu_ms() < \$end;) for (\$i = 0; \$i < 300; \$i++) outer();", ['strobe.clock' => 'cpu', 'strobe.period' => '0.0005']);

// A method of a trait has the same code in all classes that use it.
profile_until(function (Run $run) use ($name): array {
	$all = array_sum($run->stacks());
	return $all > 200 && $run->with("A::$name", true) > 0.3 * $all && $run->with("B::$name", true) > 0.3 * $all ? [] : ['classes of a trait: ' . json_encode($run->stacks())];
}, "<?php function cpu_ms() { \$u = getrusage(); return \$u['ru_utime.tv_sec'] * 1000 + \$u['ru_utime.tv_usec'] / 1000; }
	trait T { function $name() { $work } } class A { use T; } class B { use T; } \$a = new A; \$b = new B;
	function outer() { global \$a, \$b; \$a->$name(); \$b->$name(); }
	for (\$end = cpu_ms() + 130; cpu_ms() < \$end;) for (\$i = 0; \$i < 300; \$i++) outer();", ['strobe.clock' => 'cpu', 'strobe.period' => '0.0005']);

// So have closures in it, those that are gone too.
$run = profile("<?php trait T { function make() { return function () { $work }; } } class A { use T; } class B { use T; } \$a = new A; \$b = new B;
	function first(\$a) { for (\$i = 0; \$i < 300; \$i++) \$a->make()(); } function second(\$b) { for (\$i = 0; \$i < 300; \$i++) \$b->make()(); }
	for (\$turn = 0; \$turn < 80; \$turn++) { first(\$a); second(\$b); }", ['strobe.clock' => 'cpu', 'strobe.period' => '0.0005']);
foreach (['first' => ['A', 'B'], 'second' => ['B', 'A']] as $caller => [$right, $wrong]) {
	$under = fn(string $class) => array_sum(array_filter($run->stacks(), fn($path) => str_contains($path, ";$caller;$class::{closure"), ARRAY_FILTER_USE_KEY));
	check($under($right) > 20 && $under($wrong) === 0, "closures in $caller: {$under($right)} of $right, {$under($wrong)} of $wrong");
}

// Functions of two names share their code. (Not join() and implode(): PHP 8.4 calls one of them without a frame.)
$run = profile('<?php $a = str_repeat(" ", 400000);
	function first($a) { for ($i = 0; $i < 1500; $i++) chop($a); } function second($a) { for ($i = 0; $i < 1500; $i++) rtrim($a); }
	trait T { function one() { ' . $work . ' } } class C { use T { one as two; } } $c = new C;
	function third($c) { for ($i = 0; $i < 60000; $i++) $c->one(); } function fourth($c) { for ($i = 0; $i < 60000; $i++) $c->two(); }
	first($a); second($a); third($c); fourth($c);', ['strobe.clock' => 'cpu', 'strobe.period' => '0.0005']);
foreach (['first' => ['chop', 'rtrim'], 'second' => ['rtrim', 'chop'], 'third' => ['C::one', 'C::two'], 'fourth' => ['C::two', 'C::one']] as $caller => [$right, $wrong]) {
	$under = fn(string $leaf) => array_sum(array_filter($run->stacks(), fn($path) => str_ends_with($path, ";$caller;$leaf"), ARRAY_FILTER_USE_KEY));
	check($under($right) > 10 && $under($wrong) === 0, "$caller: {$under($right)} $right, {$under($wrong)} $wrong");
}
echo "done\n";
?>
--EXPECT--
done
