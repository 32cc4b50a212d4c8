--TEST--
uprofiler: load::, run_init:: and eval:: entries; closures with file and lines; definitions of functions
--INI--
strobe.compat=uprofiler
--FILE--
<?php
require __DIR__ . '/edges.inc';
$dir = sys_get_temp_dir() . '/strobe-uprofiler-' . getmypid();
mkdir("$dir/some", 0700, true);
file_put_contents("$dir/some/lib.php", "<?php\nfunction lib() {\n\treturn abs(\$GLOBALS['number']);\n}\nlib();\nreturn function () {\n\treturn lib();\n};");
$number = -1;
class C {
	function make() { return fn() => lib(); }
}

uprofiler_enable(UPROFILER_FLAGS_FUNCTION_INFO);
$f = require "$dir/some/lib.php";
$f();
(new C)->make()();
eval('lib();');
$r = uprofiler_disable();
check_edges($r);
show($r);
foreach (['run_init::some/lib.php==>lib', '{closure}::some/lib.php/6-8==>lib', 'main()==>{closure}::some/lib.php/6-8', 'lib==>abs',
	'main()==>C::make', 'main()', 'main()==>load::some/lib.php'] as $pair) {
	$v = $r[$pair];
	echo $pair, ': ', implode(' ', array_keys($v)), ' ', basename($v['filename'] ?? '-'), ' ', $v['lineno'] ?? '-', "\n";
}
unlink("$dir/some/lib.php");
rmdir("$dir/some");
rmdir($dir);
?>
--EXPECT--
C::{closure}/8-8==>lib 1
lib==>abs 4
main() 1
main()==>C::make 1
main()==>C::{closure}/8-8 1
main()==>eval::uprofiler_calls.php(15) : eval()'d code 1
main()==>load::some/lib.php 1
main()==>run_init::some/lib.php 1
main()==>run_init::uprofiler_calls.php(15) : eval()'d code 1
main()==>uprofiler_disable 1
main()==>{closure}::some/lib.php/6-8 1
run_init::some/lib.php==>lib 1
run_init::uprofiler_calls.php(15) : eval()'d code==>lib 1
{closure}::some/lib.php/6-8==>lib 1
run_init::some/lib.php==>lib: ct wt filename lineno lib.php 2
{closure}::some/lib.php/6-8==>lib: ct wt filename lineno lib.php 2
main()==>{closure}::some/lib.php/6-8: ct wt filename lineno lib.php 6
lib==>abs: ct wt - -
main()==>C::make: ct wt filename lineno uprofiler_calls.php 8
main(): ct wt - -
main()==>load::some/lib.php: ct wt - -
