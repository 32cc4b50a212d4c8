--TEST--
uprofiler: return values and warnings of its functions when started, started twice, and not running
--INI--
strobe.compat=uprofiler
--FILE--
<?php
require __DIR__ . '/edges.inc';
$number = -1;
function f() { return abs($GLOBALS['number']); }

var_dump(uprofiler_disable(), uprofiler_sample_disable());
var_dump(uprofiler_enable(UPROFILER_FLAGS_NO_BUILTINS | uprofiler_FLAGS_CPU));
f();
var_dump(uprofiler_enable(), uprofiler_sample_enable());
f();
$r = uprofiler_disable();
check_edges($r);
show($r);
echo implode(' ', array_keys($r['main()'])), "\n";
var_dump(uprofiler_disable());

var_dump(uprofiler_enable(-7, ['ignored_functions' => ['f']]));
f();
$r = uprofiler_disable();
show($r);
echo implode(' ', array_keys($r['main()'])), "\n";

set_error_handler(function ($level, $message) { echo "$level $message ", json_encode(uprofiler_enable(UPROFILER_FLAGS_NO_BUILTINS)), "\n"; });
var_dump(uprofiler_enable(-1));
f();
show(uprofiler_disable());
restore_error_handler();

try {
	uprofiler_enable('many');
} catch (TypeError $e) {
	echo $e->getMessage(), "\n";
}
var_dump(uprofiler_enable(4, 'no options'));
echo implode(' ', array_keys(uprofiler_disable()['main()'])), "\n";
?>
--EXPECTF--
NULL
NULL
bool(true)

Notice: uprofiler is already enabled in %s on line %d

Notice: uprofiler is already enabled in %s on line %d
bool(false)
bool(false)
main() 1
main()==>f 2
ct wt cpu
NULL

Warning: Can't use negative values for $flags, assuming 0 in %s on line %d
bool(true)
main() 1
main()==>abs 1
main()==>uprofiler_disable 1
main()==>var_dump 1
ct wt
2 Can't use negative values for $flags, assuming 0 true
bool(false)
main() 1
main()==>f 1
uprofiler_enable(): Argument #1 ($flags) must be of type int, string given
bool(true)
ct wt mu pmu
