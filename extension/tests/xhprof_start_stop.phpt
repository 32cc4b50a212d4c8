--TEST--
xhprof: started late, started and stopped inside functions, started twice; open calls are closed, and no state is left over
--INI--
strobe.compat=xhprof
--FILE--
<?php
require __DIR__ . '/edges.inc';

$text = 'abc';
function early() { return strrev($GLOBALS['text']); }
class M { static function early() { early(); } function __destruct() { early(); } }
$closure = function () { early(); };
function start() { xhprof_enable(); early(); }
function stop() { early(); return xhprof_disable(); }
function outer() { start(); M::early(); return stop(); }
function deep($n) { return $n ? deep($n - 1) : xhprof_disable(); }
function start_deep($n) { if ($n) start_deep($n - 1); else xhprof_enable(); early(); }

early();
M::early();
$closure();
var_dump(xhprof_disable(), xhprof_sample_disable());

var_dump(xhprof_enable());
early();
M::early();
$closure();
show(xhprof_disable(), 'functions that have been called before');

$r = outer();
check_edges($r);
show($r, 'started and stopped inside');

xhprof_enable();
$r = deep(3);
check_edges($r);
show($r, 'stopped in the depth');

start_deep(2);
$r = xhprof_disable();
check_edges($r);
show($r, 'started in the depth');

xhprof_enable(XHPROF_FLAGS_NO_BUILTINS);
early();
var_dump(xhprof_enable(XHPROF_FLAGS_MEMORY, ['ignored_functions' => ['early']]), xhprof_sample_enable());
early();
$r = xhprof_disable();
show($r, 'started twice');
echo implode(' ', array_keys($r['main()'])), "\n";

xhprof_enable();
$object = new M;
unset($object);
show(xhprof_disable(), 'destructor');

for ($i = 0; $i < 300; $i++) {
	xhprof_enable($i % 8);
	early();
	if (count(xhprof_disable()) !== ($i % 2 ? 2 : 4))
		echo "round $i\n";
}
var_dump(xhprof_disable());
xhprof_enable();
early();
echo "left open\n";
?>
--EXPECT--
NULL
NULL
NULL
-- functions that have been called before
M::early==>early 1
early==>strrev 3
main() 1
main()==>M::early 1
main()==>early 1
main()==>var_dump 1
main()==>xhprof_disable 1
main()==>{closure} 1
{closure}==>early 1
-- started and stopped inside
M::early==>early 1
early==>strrev 3
main() 1
main()==>M::early 1
main()==>early 1
main()==>stop 1
stop==>early 1
stop==>xhprof_disable 1
-- stopped in the depth
deep==>deep@1 1
deep@1==>deep@2 1
deep@2==>deep@3 1
deep@3==>xhprof_disable 1
main() 1
main()==>deep 1
-- started in the depth
early==>strrev 3
main() 1
main()==>early 3
main()==>xhprof_disable 1
NULL
NULL
-- started twice
main() 1
main()==>early 2
ct wt
-- destructor
M::__destruct==>early 1
early==>strrev 1
main() 1
main()==>M::__destruct 1
main()==>xhprof_disable 1
NULL
left open
