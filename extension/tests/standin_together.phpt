--TEST--
All three stand-ins can record at the same time, started and stopped in any order, each with its own data
--INI--
strobe.compat=tideways_xhprof,xhprof,uprofiler
--FILE--
<?php
require __DIR__ . '/edges.inc';
$inc = tempnam(sys_get_temp_dir(), 'strobe');
file_put_contents($inc, '<?php b();');
function a() { static $n; $n++; }
function b() { a(); }

tideways_xhprof_enable(TIDEWAYS_XHPROF_FLAGS_NO_BUILTINS);
a();
xhprof_enable(XHPROF_FLAGS_CPU, ['ignored_functions' => 'b']);
include $inc;
uprofiler_enable(UPROFILER_FLAGS_NO_BUILTINS | UPROFILER_FLAGS_MEMORY);
include $inc;
$t = tideways_xhprof_disable();
b();
$x = xhprof_disable();
a();
tideways_xhprof_enable(TIDEWAYS_XHPROF_FLAGS_NO_BUILTINS);
b();
$u = uprofiler_disable();
a();
$t2 = tideways_xhprof_disable();
foreach (['tideways' => $t, 'xhprof' => $x, 'uprofiler' => $u, 'tideways again' => $t2] as $name => $r) {
	check_edges($r);
	echo implode(' ', array_keys($r['main()'])), "\n";
	foreach ($r as $pair => $v)
		$named[str_replace(basename(dirname($inc)) . '/' . basename($inc), 'FILE', $pair)] = $v;
	show($named, $name);
	$named = [];
}
unlink($inc);
?>
--EXPECT--
ct wt
-- tideways
b==>a 2
main() 1
main()==>a 1
main()==>b 2
ct wt cpu
-- xhprof
main() 1
main()==>a 3
main()==>load::FILE 2
main()==>tideways_xhprof_disable 1
main()==>uprofiler_enable 1
main()==>xhprof_disable 1
ct wt mu pmu
-- uprofiler
b==>a 3
main() 1
main()==>a 1
main()==>b 2
main()==>load::FILE 1
main()==>run_init::FILE 1
run_init::FILE==>b 1
ct wt
-- tideways again
b==>a 1
main() 1
main()==>a 1
main()==>b 1
