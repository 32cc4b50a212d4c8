--TEST--
xhprof arrays with fibers: no pair has a count of 0, and calls below a resumption are counted once per resumption
--INI--
strobe.compat=xhprof
--FILE--
<?php
require __DIR__ . '/edges.inc';

function job() { step(); Fiber::suspend(); step(); inner(); step(); }
function inner() { Fiber::suspend(); }
function step() { static $n = 0; $n++; }
function start() { $f = new Fiber('job'); $f->start(); return $f; }
function go()
{
	$f = start();
	$f->resume();
	$f->resume();
	$f = start();
	$f->resume();
	$g = new Fiber(function () use ($f) { $f->resume(); });
	$g->start();
}

xhprof_enable(XHPROF_FLAGS_CPU | XHPROF_FLAGS_MEMORY);
go();
$r = xhprof_disable();
check_edges($r);
show($r);
echo "-- of a profile\n";
$t = Strobe\Trace::start(Strobe\COUNTS, ['files' => false]);
go();
show(array_filter($t->stop()->toXhprof(), fn($pair) => str_ends_with($pair, '==>job'), ARRAY_FILTER_USE_KEY));
?>
--EXPECT--
Fiber::resume==>job 4
Fiber::start==>job 2
Fiber::start==>{closure} 1
go==>Fiber::__construct 1
go==>Fiber::resume 3
go==>Fiber::start 1
go==>start 2
inner==>Fiber::suspend 2
job==>Fiber::suspend 2
job==>inner 2
job==>step 6
main() 1
main()==>go 1
main()==>xhprof_disable 1
start==>Fiber::__construct 2
start==>Fiber::start 2
{closure}==>Fiber::resume 1
-- of a profile
Fiber::resume==>job 4
Fiber::start==>job 2
