--TEST--
tideways_xhprof: internal functions counted once, main() as the root, methods separate from functions, files and eval part of their callers
--INI--
strobe.compat=tideways_xhprof
--FILE--
<?php
namespace {
require __DIR__ . '/edges.inc';
$inc = tempnam(sys_get_temp_dir(), 'strobe');
file_put_contents($inc, '<?php App\from_file();');

function same() { App\C::same(); }
}
namespace App {
function from_file() { static $n; $n++; }
class C {
	static function same() { array_sum(range(1, 3)); }
	function closure() { return function () { \same(); }; }
	function __call($name, $arguments) { return count($arguments); }
	static function __callStatic($name, $arguments) { return 1; }
	function __destruct() { from_file(); }
	function __toString() { return 'x'; }
}
interface I { function run(); }
abstract class Base { function inherited() { return $this->run(); } }
}
namespace {
tideways_xhprof_enable();
same();
$c = new App\C;
($c->closure())();
(function () { same(); })();
(fn() => abs(hrtime(true)))();
$c->missing(1);
App\C::gone();
"$c";
$anonymous = new class extends App\Base implements App\I { function run() { return 1; } };
$anonymous->inherited();
include $inc;
eval('App\from_file();');
array_map('same', [1, 2]);
$strings = array_map('strtoupper', ['a']);
unset($c);
$r = tideways_xhprof_disable();
check_edges($r);
show($r);
unlink($inc);
}
?>
--EXPECT--
App\Base::inherited==>App\Base@anonymous::run 1
App\C::__call==>count 1
App\C::__destruct==>App\from_file 1
App\C::same==>array_sum 5
App\C::same==>range 5
App\C::{closure}==>same 1
array_map==>same 2
array_map==>strtoupper 1
main() 1
main()==>App\Base::inherited 1
main()==>App\C::__call 1
main()==>App\C::__callStatic 1
main()==>App\C::__destruct 1
main()==>App\C::__toString 1
main()==>App\C::closure 1
main()==>App\C::{closure} 1
main()==>App\from_file 2
main()==>array_map 2
main()==>same 1
main()==>tideways_xhprof_disable 1
main()==>{closure} 2
same==>App\C::same 5
{closure}==>abs 1
{closure}==>hrtime 1
{closure}==>same 1
