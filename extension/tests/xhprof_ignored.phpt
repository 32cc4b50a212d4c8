--TEST--
xhprof: ignored functions are transparent, whether internal, recursive, methods or closures; main() is never ignored
--INI--
strobe.compat=xhprof
--FILE--
<?php
require __DIR__ . '/edges.inc';

$text = 'abc';
function a($n) { b($n); }
function b($n) { abs(1); if ($n) a($n - 1); else c(); }
function c() { array_map('d', [1, 2]); }
function d() { return C::m(); }
class C { static function m() { return (function () { return strtoupper($GLOBALS['text']); })(); } }

foreach ([['b'], ['a'], ['array_map'], 'b', ['C::m', 'd'], ['main()', 'xhprof_disable'], 'main()', [], ['a', 'b', 'c', 'd', 'array_map', 'abs'],
	['no' => 'a', 5 => 'b', 1, null, [2]]] as $ignored) {
	xhprof_enable(0, ['ignored_functions' => $ignored]);
	a(1);
	$r = xhprof_disable();
	check_edges($r);
	show($r, json_encode($ignored));
}

// Values that are not options.
foreach (['abs', 'ignored_functions', 5, null, 1.5, new stdClass, [], ['ignored_functions' => 7], ['functions' => ['a']]] as $options) {
	xhprof_enable(0, $options);
	abs(1);
	if (calls(xhprof_disable()) !== ['main()' => 1, 'main()==>abs' => 1, 'main()==>xhprof_disable' => 1])
		echo "not as without options\n";
}

// By reference, and a list that is gone before the end.
$names = ['b'];
$options = ['ignored_functions' => &$names];
xhprof_enable(0, $options);
unset($options);
$names = null;
a(0);
show(xhprof_disable(), 'by reference');

// The next one has none.
xhprof_enable();
b(0);
show(xhprof_disable(), 'none');
?>
--EXPECT--
-- ["b"]
C::m==>C::{closure} 2
C::{closure}==>strtoupper 2
a==>a@1 1
a==>abs 1
a@1==>abs 1
a@1==>c 1
array_map==>d 2
c==>array_map 1
d==>C::m 2
main() 1
main()==>a 1
main()==>xhprof_disable 1
-- ["a"]
C::m==>C::{closure} 2
C::{closure}==>strtoupper 2
array_map==>d 2
b==>abs 1
b==>b@1 1
b@1==>abs 1
b@1==>c 1
c==>array_map 1
d==>C::m 2
main() 1
main()==>b 1
main()==>xhprof_disable 1
-- ["array_map"]
C::m==>C::{closure} 2
C::{closure}==>strtoupper 2
a==>b 1
a@1==>b@1 1
b==>a@1 1
b==>abs 1
b@1==>abs 1
b@1==>c 1
c==>d 2
d==>C::m 2
main() 1
main()==>a 1
main()==>xhprof_disable 1
-- "b"
C::m==>C::{closure} 2
C::{closure}==>strtoupper 2
a==>a@1 1
a==>abs 1
a@1==>abs 1
a@1==>c 1
array_map==>d 2
c==>array_map 1
d==>C::m 2
main() 1
main()==>a 1
main()==>xhprof_disable 1
-- ["C::m","d"]
C::{closure}==>strtoupper 2
a==>b 1
a@1==>b@1 1
array_map==>C::{closure} 2
b==>a@1 1
b==>abs 1
b@1==>abs 1
b@1==>c 1
c==>array_map 1
main() 1
main()==>a 1
main()==>xhprof_disable 1
-- ["main()","xhprof_disable"]
C::m==>C::{closure} 2
C::{closure}==>strtoupper 2
a==>b 1
a@1==>b@1 1
array_map==>d 2
b==>a@1 1
b==>abs 1
b@1==>abs 1
b@1==>c 1
c==>array_map 1
d==>C::m 2
main() 1
main()==>a 1
-- "main()"
C::m==>C::{closure} 2
C::{closure}==>strtoupper 2
a==>b 1
a@1==>b@1 1
array_map==>d 2
b==>a@1 1
b==>abs 1
b@1==>abs 1
b@1==>c 1
c==>array_map 1
d==>C::m 2
main() 1
main()==>a 1
main()==>xhprof_disable 1
-- []
C::m==>C::{closure} 2
C::{closure}==>strtoupper 2
a==>b 1
a@1==>b@1 1
array_map==>d 2
b==>a@1 1
b==>abs 1
b@1==>abs 1
b@1==>c 1
c==>array_map 1
d==>C::m 2
main() 1
main()==>a 1
main()==>xhprof_disable 1
-- ["a","b","c","d","array_map","abs"]
C::m==>C::{closure} 2
C::{closure}==>strtoupper 2
main() 1
main()==>C::m 2
main()==>xhprof_disable 1
-- {"no":"a","5":"b","6":1,"7":null,"8":[2]}
C::m==>C::{closure} 2
C::{closure}==>strtoupper 2
a==>a@1 1
a==>abs 1
a@1==>abs 1
a@1==>c 1
array_map==>d 2
c==>array_map 1
d==>C::m 2
main() 1
main()==>a 1
main()==>xhprof_disable 1
-- by reference
C::m==>C::{closure} 2
C::{closure}==>strtoupper 2
a==>abs 1
a==>c 1
array_map==>d 2
c==>array_map 1
d==>C::m 2
main() 1
main()==>a 1
main()==>xhprof_disable 1
-- none
C::m==>C::{closure} 2
C::{closure}==>strtoupper 2
array_map==>d 2
b==>abs 1
b==>c 1
c==>array_map 1
d==>C::m 2
main() 1
main()==>b 1
main()==>xhprof_disable 1
