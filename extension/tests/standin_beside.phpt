--TEST--
Beside the original tideways_xhprof, in either loading order, the original is used
--EXTENSIONS--
sockets
--SKIPIF--
<?php
if (!file_exists(getenv('STROBE_TEST_TIDEWAYS') ?: ini_get('extension_dir') . '/tideways_xhprof.so'))
	die('skip php-tideways is not installed (STROBE_TEST_TIDEWAYS names one that is elsewhere)');
?>
--FILE--
<?php
require __DIR__ . '/strobe.inc';

$original = getenv('STROBE_TEST_TIDEWAYS') ?: ini_get('extension_dir') . '/tideways_xhprof.so';
$code = '<?php
function f() {}
ob_start();
phpinfo(INFO_MODULES);
$info = ob_get_clean();
tideways_xhprof_enable();
f();
$r = tideways_xhprof_disable();
xhprof_enable();
f();
$x = xhprof_disable();
echo phpversion("tideways_xhprof"), " ", isset($r["main()"]) ? "traced" : "", " ", $x["main()==>f"]["ct"], " ", preg_match("~Does not stand in for.*~", $info, $m) ? $m[0] : $info;
';
foreach ([[$original, extension_path()], [extension_path(), $original]] as $order) {
	$run = profile($code, ['extension' => $order, 'strobe.compat' => 'tideways_xhprof,xhprof', 'strobe.mode' => 'off']);
	check($run->status === 0 && str_ends_with($run->stdout, ' traced 1 Does not stand in for, because it is loaded => tideways_xhprof') && $run->stderr === '',
		"the original answers: $run->stdout $run->stderr");
}
echo "done\n";
?>
--EXPECT--
done
