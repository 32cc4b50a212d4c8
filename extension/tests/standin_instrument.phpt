--TEST--
Without the call observer, functions that would trace warn with the setting to change, and record nothing
--INI--
strobe.compat=tideways_xhprof,xhprof,uprofiler
strobe.instrument=0
--FILE--
<?php
function f() {}
foreach (['tideways_xhprof', 'xhprof', 'uprofiler'] as $api) {
	var_dump(("{$api}_enable")());
	f();
	var_dump(("{$api}_disable")());
}
?>
--EXPECTF--

Warning: tideways_xhprof_enable(): needs the call observer: set strobe.instrument=1 in php.ini (it is read when PHP starts) in %s on line %d
NULL
array(0) {
}

Warning: xhprof_enable(): needs the call observer: set strobe.instrument=1 in php.ini (it is read when PHP starts) in %s on line %d
NULL
NULL

Warning: uprofiler_enable(): needs the call observer: set strobe.instrument=1 in php.ini (it is read when PHP starts) in %s on line %d
bool(false)
NULL
