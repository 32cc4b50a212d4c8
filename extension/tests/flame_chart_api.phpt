--TEST--
Strobe\Trace with a flame chart: beside other traces, with excluded functions, in all metrics, and exported to speedscope
--INI--
strobe.instrument=1
memory_limit=256M
strobe.trace_chart_calls=5000
--FILE--
<?php
require __DIR__ . '/strobe.inc';

use Strobe\{Trace, Profile};
use const Strobe\{WALL, CPU, MEMORY, ALLOCATIONS, SAMPLED_WALL, COUNTS};

function leaf($n) { return abs($n); }
function middle($n) { leaf($n); return leaf($n + 1); }
function several($n) { for ($i = 0; $i < $n; $i++) middle($i); }

/* The events of a file of speedscope as "name( … )", and whether they are such: nested, in the order of time. */
function events(Profile $p): string
{
	$file = $p->toSpeedscope('wall_ns');
	[$profile] = $file['profiles'];
	check($profile['type'] === 'evented' && $profile['unit'] === 'nanoseconds' && $profile['startValue'] === 0, json_encode($profile));
	$text = '';
	$open = [];
	$last = 0;
	foreach ($profile['events'] as ['type' => $type, 'frame' => $frame, 'at' => $at]) {
		check($at >= $last && $at <= $profile['endValue'], "$at comes after $last, before $profile[endValue]");
		$last = $at;
		if ($type === 'O') {
			$open[] = $frame;
			$text .= $file['shared']['frames'][$frame]['name'] . '(';
		} else {
			check(array_pop($open) === $frame, 'what closes is open');
			$text .= ')';
		}
	}
	check($open === [], 'all is closed');
	return $text;
}

const ONE = 'middle(leaf(abs())leaf(abs()))';

// Off by default.
$t = Trace::start();
several(1);
$p = $t->stop();
check($p->getUnchartedCalls() === null && $p->toSpeedscope()['profiles'][0]['type'] === 'sampled', 'no chart');

// Whatever is measured, and nothing changes in the tree.
foreach ([WALL, CPU, MEMORY | WALL, ALLOCATIONS | WALL, SAMPLED_WALL, WALL | CPU | MEMORY | Strobe\PEAK_MEMORY, WALL | CPU | ALLOCATIONS] as $metrics) {
	$t = Trace::start($metrics, ['flame_chart' => true]);
	several(2);
	$p = $t->stop();
	check(events($p) === 'main()(several(' . ONE . ONE . ')Strobe\Trace::stop())', "$metrics: " . events($p));
	check($p->getUnchartedCalls() === 0 && $p->getTotals()['calls'] === 13, "$metrics: " . json_encode($p->getTotals()));
}
$t = Trace::start(COUNTS, ['flame_chart' => true]);
several(2);
$p = $t->stop();
check($p->getUnchartedCalls() === 0 && array_keys($p->getTotals()) === ['calls'], 'counts alone');

// Functions that are left out are transparent.
foreach ([['internals' => false], ['include' => ['several', 'leaf']], ['exclude' => ['middle']]] as $i => $options) {
	$t = Trace::start(WALL, ['flame_chart' => true] + $options);
	several(2);
	$p = $t->stop();
	$expected = ['main()(several(middle(leaf()leaf())middle(leaf()leaf())))', 'main()(several(leaf()leaf()leaf()leaf()))',
		'main()(several(leaf(abs())leaf(abs())leaf(abs())leaf(abs()))Strobe\Trace::stop())'][$i];
	check(events($p) === $expected && $p->getUnchartedCalls() === 0, events($p) . $p->getUnchartedCalls());
}

// Several at once, started and stopped in any order, with and without a chart: each sees its own.
$a = Trace::start(WALL);
leaf(1);
$b = Trace::start(WALL, ['flame_chart' => true]);
leaf(2);
$c = Trace::start(CPU, ['flame_chart' => true]);
middle(3);
$pb = $b->stop();
leaf(4);
$pa = $a->stop();
$pc = $c->stop();
check($pa->getUnchartedCalls() === null, 'a has none');
check(events($pb) === 'main()(leaf(abs())Strobe\Trace::start()' . ONE . 'Strobe\Trace::stop())', events($pb));
check(events($pc) === 'main()(' . ONE . 'Strobe\Trace::stop()leaf(abs())Strobe\Trace::stop()Strobe\Trace::stop())', events($pc));
check($pb->getUnchartedCalls() === 0 && $pc->getUnchartedCalls() === 0, 'all of it');

// A chart that is full ends, and the next trace has all of the room again, beside one that goes on.
$all = Trace::start(WALL);
for ($i = 0; $i < 3; $i++) {
	$t = Trace::start(WALL, ['flame_chart' => true]);
	several(2000);
	$p = $t->stop();
	$opened = substr_count(events($p), '(') - 1;	// "main()" has one of its own
	check($opened === 4999 && $p->getUnchartedCalls() === 1 + 2000 * 5 + 1 - 4998, "$i: $opened {$p->getUnchartedCalls()}");
	check(array_column($p->getFunctions(), 'calls', 'name')['leaf'] === 4000, 'the tree is exact');
}
unset($t);
check(array_column($all->stop()->getFunctions(), 'calls', 'name')['leaf'] === 12000, 'as is that of the other one');

// In a fiber: a session of a unit sees its own fiber alone.
function in_fiber() { leaf(1); Fiber::suspend(); middle(1); }
$f = new Fiber(function () {
	$t = Trace::start(WALL, ['flame_chart' => true]);
	in_fiber();
	return $t->stop();
});
$f->start();
$f->resume();
$text = events($f->getReturn());
check(str_contains($text, 'in_fiber(leaf(abs())Fiber::suspend())') && str_contains($text, 'in_fiber(Fiber::suspend()' . ONE . ')'), $text);

foreach ([1, 'yes', null] as $value)
	try {
		Trace::start(WALL, ['flame_chart' => $value]);
		check(false, 'no bool');
	} catch (TypeError $e) {
		check(str_contains($e->getMessage(), 'must have a bool as "flame_chart"'), $e->getMessage());
	}
echo "done\n";
?>
--EXPECT--
done
