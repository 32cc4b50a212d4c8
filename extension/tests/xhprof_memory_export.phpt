--TEST--
xhprof: reaching memory_limit during the export ends the request and leaves the state consistent
--INI--
strobe.compat=xhprof
memory_limit=40M
display_errors=0
--FILE--
<?php
require __DIR__ . '/edges.inc';

function direct($n) { if ($n) direct($n - 1); }

register_shutdown_function(function () {
	echo error_get_last()['message'], "\n";
	ini_set('memory_limit', '256M');
	var_dump(xhprof_disable());
	xhprof_enable(XHPROF_FLAGS_NO_BUILTINS);
	direct(2);
	show(xhprof_disable());
});
xhprof_enable();
direct(100000);
echo memory_get_usage() < 30 << 20 ? "traced\n" : "the trace itself counts against memory_limit\n";
xhprof_disable();
echo "not reached\n";
?>
--EXPECTF--
traced
Allowed memory size of 41943040 bytes exhausted (tried to allocate %d bytes)
NULL
direct==>direct@1 1
direct@1==>direct@2 1
main() 1
main()==>direct 1
