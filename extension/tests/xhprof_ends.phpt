--TEST--
xhprof: calls ended by exceptions, generators, fibers, exit and fatal errors are attributed correctly
--INI--
strobe.compat=xhprof
--FILE--
<?php
require __DIR__ . '/edges.inc';

function throws() { inner(); throw new Exception; }
function inner() { static $n; $n++; }
function catches() { try { throws(); } catch (Exception) { inner(); } }
class D { function __destruct() { throw new LogicException; } }
function rethrow() { try { $d = new D; unset($d); } finally { inner(); } }
xhprof_enable(XHPROF_FLAGS_NO_BUILTINS);
catches();
inner();
try { rethrow(); } catch (LogicException) { inner(); }
show(xhprof_disable(), 'exceptions');

function numbers() { inner(); yield 1; inner(); yield from more(); }
function more() { yield 2; inner(); yield 3; }
function reader() { $n = 0; foreach (numbers() as $x) $n += $x; return $n; }
function lazily(Generator $g) { $g->next(); }
xhprof_enable(XHPROF_FLAGS_NO_BUILTINS);
reader();
$g = numbers();
$g->current();
lazily($g);
unset($g);
inner();
show(xhprof_disable(), 'generators');

function in_fiber() { inner(); Fiber::suspend(1); after(); Fiber::suspend(2); after(); }
function after() { usleep(20000); }
function resumes(Fiber $f) { $f->resume(); inner(); }
xhprof_enable();
$f = new Fiber('in_fiber');
$f->start();
inner();
resumes($f);
usleep(30000);
resumes($f);
inner();
$r = xhprof_disable();
check_edges($r);
foreach (['in_fiber==>after', 'main()==>resumes', 'main()==>inner', 'resumes==>inner', 'main()==>usleep', 'in_fiber==>inner'] as $pair)
	echo $pair, ' ', $r[$pair]['ct'], "\n";
echo array_sum(array_map(fn($pair, $v) => str_contains($pair, '==>after') ? $v['ct'] : 0, array_keys($r), $r)), " calls of after()\n";
/* The time between two resumes is that of usleep() alone. */
if ($r['in_fiber==>after']['wt'] < 39000 || $r['main()==>resumes']['wt'] < 39000 || $r['main()==>resumes']['wt'] + $r['main()==>usleep']['wt'] > $r['main()']['wt'])
	echo json_encode($r), "\n";

// At the end of the request.
register_shutdown_function(function () {
	inner();
	$r = xhprof_disable();
	check_edges($r);
	show($r, 'after the fatal error');
	register_shutdown_function(function () {
		xhprof_enable();
		inner();
		exit;
	});
});
function breaks() { inner(); stops(); }
function stops() { inner(); eval('function twice() {} function twice() {}'); }
xhprof_enable(XHPROF_FLAGS_NO_BUILTINS);
ini_set('display_errors', '0');
breaks();
?>
--EXPECT--
-- exceptions
catches==>inner 1
catches==>throws 1
main() 1
main()==>catches 1
main()==>inner 2
main()==>rethrow 1
rethrow==>D::__destruct 1
rethrow==>inner 1
throws==>inner 1
-- generators
lazily==>more 1
lazily==>numbers 1
main() 1
main()==>inner 1
main()==>lazily 1
main()==>numbers 1
main()==>reader 1
more==>inner 1
numbers==>inner 4
reader==>more 3
reader==>numbers 3
in_fiber==>after 2
main()==>resumes 2
main()==>inner 2
resumes==>inner 2
main()==>usleep 1
in_fiber==>inner 1
2 calls of after()
-- after the fatal error
breaks==>inner 1
breaks==>stops 1
main() 1
main()==>breaks 1
main()==>{closure} 1
stops==>eval::xhprof_ends.php(61) : eval()'d code 1
stops==>inner 1
{closure}==>inner 1
