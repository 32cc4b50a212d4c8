--TEST--
xhprof: functions running when memory_limit was reached are in the array returned in a shutdown function
--INI--
strobe.compat=xhprof
memory_limit=48M
display_errors=0
--FILE--
<?php
require __DIR__ . '/edges.inc';

function exhausts() { fills(); }
function fills() { $a = []; for (;;) $a[] = str_repeat('x', 100000); }

register_shutdown_function(function () {
	echo error_get_last()['message'], "\n";
	show(xhprof_disable());
	var_dump(xhprof_disable());
});
xhprof_enable(XHPROF_FLAGS_NO_BUILTINS);
exhausts();
?>
--EXPECTF--
Allowed memory size of 50331648 bytes exhausted (tried to allocate %d bytes)
exhausts==>fills 1
main() 1
main()==>exhausts 1
main()==>{closure} 1
NULL
