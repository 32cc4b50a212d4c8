--TEST--
A sample belongs to the file scope of the script running at the tick, even if the script has ended since
--EXTENSIONS--
sockets
--FILE--
<?php
require __DIR__ . '/strobe.inc';

$long = fn(int $n): string => str_repeat('$x = ($x * 3 + 7) % 1000003; ', $n);
$dir = sys_get_temp_dir() . '/strobe-leaf-file-' . getmypid();
mkdir($dir);
/* No safe point before it ends, and compiling it takes as long: hence opcache. */
file_put_contents("$dir/included.php", '<?php $x = 1; ' . $long(10000));
file_put_contents("$dir/main.php", '<?php
function includes() { include __DIR__ . "/included.php"; }
function cpu_ms() { $u = getrusage(); return $u["ru_utime.tv_sec"] * 1000 + $u["ru_utime.tv_usec"] / 1000; }
opcache_compile_file(__DIR__ . "/included.php");
for ($end = cpu_ms() + 600; cpu_ms() < $end;) for ($i = 0; $i < 20; $i++) includes();
');
$run = profile("$dir/main.php", ['strobe.clock' => 'cpu', 'zend_extension' => 'opcache', 'opcache.enable' => '1', 'opcache.enable_cli' => '1',
	'opcache.optimization_level' => '0x100', 'opcache.file_update_protection' => '0', 'opcache.jit' => 'off']);
unlink("$dir/main.php");
unlink("$dir/included.php");
rmdir($dir);
check($run->status === 0 && $run->stdout . $run->stderr === '', "the program runs: $run->stdout$run->stderr");
$all = $run->with('includes');
check($all > 50 && $run->with("$dir/included.php", true) > 0.6 * $all, json_encode($run->stacks()));
echo "done\n";
?>
--EXPECT--
done
