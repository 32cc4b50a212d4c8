--TEST--
Loaded without settings it does nothing: no thread, no descriptor, no message; with them, one thread and one descriptor
--EXTENSIONS--
sockets
--FILE--
<?php
require __DIR__ . '/strobe.inc';

$look = '<?php ' . BUSY . ' busy(1.3); echo count(scandir("/proc/self/task")) - 2, " threads, ", count(scandir("/proc/self/fd")) - 3, " descriptors ",
	implode(" ", array_diff(array_map(fn($t) => @trim(file_get_contents("/proc/self/task/$t/comm")), array_diff(scandir("/proc/self/task"), [".", ".."])), ["php"])), "\n";';
$none = profile($look, ['strobe.mode' => 'off', 'strobe.period' => '0.001']);
check(preg_match('/^1 threads, (\d+) descriptors /', $none->stdout, $m) === 1, "off: $none->stdout");
check(!$none->messages && !$none->connections, 'nothing is sent');
$some = profile($look);
check(str_starts_with($some->stdout, '2 threads, ' . ($m[1] + 1) . ' descriptors ') && str_contains($some->stdout, 'strobe-ticker'), "on: $some->stdout");

// The share of requests that are sampled.
$sampled = 0;
for ($i = 0; $i < 40; $i++)
	$sampled += (bool)profile('<?php ' . BUSY . ' busy(0.02);', ['strobe.request_rate' => '0.5'])->messages;
check($sampled > 4 && $sampled < 36, "at a rate of one half $sampled of 40 were sampled");
check(!profile('<?php ' . BUSY . ' busy(0.05);', ['strobe.request_rate' => '0'])->messages, 'at a rate of 0 none is');

// Short requests are seen as often as they deserve: 100 runs of about 5 ms at a period of 50 ms give about 10 samples.
$samples = $deserved = 0;
for ($i = 0; $i < 100; $i++) {
	$run = profile('<?php ' . BUSY . ' busy(0.005); echo microtime(true) - $_SERVER["REQUEST_TIME_FLOAT"];', ['strobe.period' => '0.05']);
	$samples += $run->samples();
	$deserved += (float)$run->stdout / 0.05;
}
check($samples > 0.1 * $deserved && $samples < 2 * $deserved + 25, "$samples samples of 100 short runs, which deserve $deserved");
echo "done\n";
?>
--EXPECT--
done
