--TEST--
tideways_xhprof: an empty array when not running; starting twice has no effect; enabling inside a function keeps main()
--INI--
strobe.compat=tideways_xhprof
--FILE--
<?php
require __DIR__ . '/edges.inc';
$number = -1;
function f() { return abs($GLOBALS['number']); }
function on() { tideways_xhprof_enable(); f(); }
function off() { return tideways_xhprof_disable(); }

var_dump(tideways_xhprof_disable(), tideways_xhprof_disable(1, 2));
tideways_xhprof_enable(1);
f();
tideways_xhprof_enable(2);
f();
$r = tideways_xhprof_disable();
show($r, 'twice');
echo implode(' ', array_keys($r['main()'])), "\n";
var_dump(tideways_xhprof_disable());

on();
f();
function_exists('f');
$r = off();
check_edges($r);
show($r, 'inside');

foreach ([['x'], [1, 2], [[]]] as $arguments)
	try {
		tideways_xhprof_enable(...$arguments);
	} catch (Error $e) {
		echo get_class($e), ' ', $e->getMessage(), "\n";
	}
tideways_xhprof_enable(options: 8);
f();
show(tideways_xhprof_disable(), 'by name');
?>
--EXPECT--
array(0) {
}
array(0) {
}
-- twice
f==>abs 2
main() 1
main()==>f 2
main()==>tideways_xhprof_disable 1
main()==>tideways_xhprof_enable 1
ct wt cpu
array(0) {
}
-- inside
f==>abs 2
main() 1
main()==>f 2
main()==>function_exists 1
main()==>off 1
off==>tideways_xhprof_disable 1
TypeError tideways_xhprof_enable(): Argument #1 ($options) must be of type int, string given
ArgumentCountError tideways_xhprof_enable() expects at most 1 argument, 2 given
TypeError tideways_xhprof_enable(): Argument #1 ($options) must be of type int, array given
-- by name
main() 1
main()==>f 1
