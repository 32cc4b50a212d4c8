--TEST--
excimer: functions on one line are distinguished; freed and recompiled code is not confused; generators keep their callers
--INI--
strobe.compat=excimer
--FILE--
<?php
require __DIR__ . '/excimer.inc';

function fa() { work(0.003); } function fb() { work(0.003); } function go() { fa(); fb(); }
class K { static function a() { work(0.003); } static function b() { work(0.003); } function c() { (function () { work(0.003); })(); } }
$log = profiled(function () { go(); K::a(); K::b(); (new K())->c(); }, 60);
foreach (['go;fa;work', 'go;fb;work', 'K::a;work', 'K::b;work', 'K::c;{closure'] as $part)
	check(stacks($log, $part) !== [], "$part of " . json_encode(stacks($log)));
$by = $log->aggregateByFunction();
check($by['fa']['inclusive'] > 0 && $by['fb']['inclusive'] > 0 && $by['fa']['function'] === 'fa' && $by['fb']['function'] === 'fb', 'by function');

function inner() { work(0.002); yield 1; work(0.002); }
function middle() { yield from inner(); }
function outer() { yield from middle(); }
$log = profiled(function () { foreach (outer() as $_) work(0.001); }, 20);
check(stacks($log, 'outer;middle;inner;work') !== [], 'generators that delegate: ' . json_encode(stacks($log)));
$alone = stacks(profiled(function () { foreach (inner() as $_); }, 10), 'inner');
check($alone !== [] && !str_contains(json_encode($alone), 'outer'), 'a generator on its own');

/* A closure that is made of a function has its name, also when it comes first. */
function slugify() { work(0.003); }
trait Shared { function shared() { work(0.003); } }
class First { use Shared; }
class Second { use Shared; }
$log = profiled(function () { array_map(slugify(...), [1]); slugify(1); (new First)->shared(); (new Second)->shared(); array_map((new Second)->shared(...), [1]); }, 60);
foreach (['slugify;work', 'First::shared;work', 'Second::shared;work'] as $part)
	check(stacks($log, $part) !== [], "$part of " . json_encode(stacks($log)));
check(!preg_grep('~\{closure[^;]*\};work~', stacks($log)), 'nothing else is a closure: ' . json_encode(stacks($log)));

/* Code of the same place in memory, again and again, under other names. */
$p = profiler();
for ($i = 0; $i < 300; $i++) {
	eval("\$f = function () { \$n = 'name$i'; work(0.0004); };");
	$f();
	eval("function evaluated$i() { work(0.0004); } evaluated$i();");
	unset($f);
}
$p->stop();
$log = $p->flush();
check(count($log) > 10, 'sampled');
foreach ($log as $i => $entry)
	foreach ($entry->getTrace() as $at => $frame) {
		$name = $frame['function'] ?? '';
		if (str_starts_with($name, 'evaluated'))
			check(preg_match('/^evaluated\d+$/', $name) && str_contains($frame['file'], "eval()'d code"), json_encode($frame));
	}
check($log->formatCollapsed() === $log->formatCollapsed(), 'and the text is made twice');

/* A log outlives the functions in it. */
$text = (function () {
	eval('$f = function () { work(0.004); };');
	$log = profiled($f, 3);
	unset($f);
	return [$log, $log->formatCollapsed()];
})();
for ($i = 0; $i < 1000; $i++)
	eval("\$f = function () { return 'x$i'; };");
check($text[0]->formatCollapsed() === $text[1], 'the same text later');

/* In fibers. */
function in_fiber() { work(0.002); Fiber::suspend(); work(0.002); }
$log = profiled(function () { $f = new Fiber('in_fiber'); $f->start(); work(0.002); $f->resume(); }, 20);
check(stacks($log, 'in_fiber;work') !== [] && stacks($log, '{closure') !== [], json_encode(stacks($log)));
foreach (stacks($log, 'in_fiber') as $stack)
	check(!str_contains($stack, 'in_fiber;{closure'), $stack);
echo "done\n";
?>
--EXPECT--
done
