--TEST--
Preloading is not a request: it creates no run, and preloaded code is traced like any other
--EXTENSIONS--
sockets
--SKIPIF--
<?php
if (!is_file(ini_get('extension_dir') . '/opcache.so') && PHP_VERSION_ID < 80500) die('skip there is no opcache');
?>
--FILE--
<?php
require __DIR__ . '/strobe.inc';

$receiver = new Receiver();
file_put_contents("$receiver->directory/preload.php", '<?php class Preloaded { static function method() { return strrev("abc"); } } Preloaded::method();');
$ini = ['strobe.mode' => 'off', 'strobe.trace_rate' => '1', 'opcache.enable_cli' => '1', 'opcache.preload' => "$receiver->directory/preload.php", 'opcache.preload_user' => get_current_user()];
if (PHP_VERSION_ID < 80500)
	$ini['zend_extension'] = 'opcache';
$run = profile('<?php echo Preloaded::method();', $ini, [], $receiver);
check($run->stdout === 'cba' && $run->status === 0, "$run->stdout$run->stderr");
check(count($run->runs()) === 1 && $run->runs()[0]['labels']['entry'] === 'script' && run_calls($run->runs()[0])['Preloaded::method'] === 1, count($run->runs()) . ' runs');

// Everything that a preload script leaves running is closed after opcache has taken its closures apart.
file_put_contents("$receiver->directory/preload.php", '<?php class Preloaded { static function method() { return array_map(fn($x) => strrev($x), ["abc"])[0]; } }
xhprof_enable(); tideways_xhprof_enable(); $trace = Strobe\Trace::start(); $sampler = new Strobe\Sampler; $sampler->start(); $p = new ExcimerProfiler; $p->start();
Preloaded::method(); array_map(function ($f) { return $f(); }, [fn() => 1, function () { return function () {}; }]);');
$ini += ['strobe.compat' => 'excimer,tideways_xhprof,xhprof'];
// Thread-safe PHP reads memory there that it has not written, with us and without, and ends by SIGSEGV when it is perturbed.
$perturbed = PHP_ZTS ? [] : ['USE_ZEND_ALLOC' => '0', 'MALLOC_PERTURB_' => '165'];
$run = profile('<?php echo Preloaded::method();', $ini, [], $receiver, null, $perturbed);
check($run->stdout === 'cba' && $run->status === 0, "status $run->status: $run->stdout$run->stderr");
echo "done\n";
?>
--EXPECT--
done
