--TEST--
strobe.compat_builtins=1 shows functions that PHP would compile to opcodes; without it they are part of their callers
--EXTENSIONS--
sockets
--FILE--
<?php
require __DIR__ . '/strobe.inc';

$code = '<?php
function f(array $a, $x) {
	return [strlen("$x"), count($a), is_int($x), in_array($x, [1, 2, 3]), array_key_exists($x, $a), defined("PHP_EOL$x"), ord("$x"), call_user_func("g"),
		is_array($a), intval($x), func_num_args(), get_class(new stdClass), array_slice(func_get_args(), 1), str_contains("$x", "a"), min($x, 2)];
}
function g() {}
tideways_xhprof_enable();
f([], 7);
foreach (tideways_xhprof_disable() as $pair => $v)
	$calls[] = "$pair {$v["ct"]}";
sort($calls);
echo implode("\n", $calls), "\n";
';
foreach (['strlen', 'count', 'is_int', 'in_array', 'array_key_exists', 'defined', 'ord', 'call_user_func', 'is_array', 'intval', 'func_num_args', 'get_class',
		'array_slice', 'func_get_args', 'str_contains', 'min'] as $f)
	$all[] = "f==>$f 1";
array_push($all, 'call_user_func==>g 1', 'main() 1', 'main()==>f 1', 'main()==>tideways_xhprof_disable 1');
sort($all);
$run = profile($code, ['strobe.mode' => 'off', 'strobe.compat' => 'tideways_xhprof', 'strobe.compat_builtins' => '1']);
check($run->stdout === implode("\n", $all) . "\n" && $run->stderr === '', "all are there:\n$run->stdout\n$run->stderr");

$run = profile($code, ['strobe.mode' => 'off', 'strobe.compat' => 'tideways_xhprof']);
check(!str_contains($run->stdout, 'strlen') && !str_contains($run->stdout, '==>count') && str_contains($run->stdout, 'f==>g 1'), "without it:\n$run->stdout");
echo "done\n";
?>
--EXPECT--
done
