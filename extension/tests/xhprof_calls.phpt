--TEST--
xhprof: compilation has entries, the code of files is part of their callers; names as in the original
--INI--
strobe.compat=xhprof
--FILE--
<?php
require __DIR__ . '/edges.inc';
$dir = sys_get_temp_dir() . '/strobe-xhprof-' . getmypid();
mkdir("$dir/some", 0700, true);
file_put_contents("$dir/some/lib.php", '<?php function lib() { return other(); } lib();');
file_put_contents("$dir/some/other.php", '<?php function other() { return 1; } return new class { function run() {} };');

xhprof_enable();
$o = require "$dir/some/other.php";
require "$dir/some/lib.php";
require_once "$dir/some/lib.php";
$o->run();
(function () { eval('lib();'); })();
$r = xhprof_disable();
check_edges($r);
show($r);
unlink("$dir/some/lib.php");
unlink("$dir/some/other.php");
rmdir("$dir/some");
rmdir($dir);
?>
--EXPECT--
lib==>other 2
main() 1
main()==>class@anonymous::run 1
main()==>lib 1
main()==>load::some/lib.php 1
main()==>load::some/other.php 1
main()==>xhprof_disable 1
main()==>{closure} 1
{closure}==>eval::xhprof_calls.php(13) : eval()'d code 1
{closure}==>lib 1
