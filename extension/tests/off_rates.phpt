--TEST--
strobe.request_rate is the fraction of requests sampled, and short requests get samples in proportion to their time
--EXTENSIONS--
sockets
--FILE--
<?php
require __DIR__ . '/strobe.inc';

// The share of requests that are sampled.
$sampled = 0;
[$all, $few] = in_full() ? [40, 4] : [20, 0];
for ($i = 0; $i < $all; $i++)
	$sampled += (bool)profile('<?php ' . BUSY . ' busy(0.02);', ['strobe.request_rate' => '0.5'])->messages;
check($sampled > $few && $sampled < $all - $few, "at a rate of one half $sampled of $all were sampled");
check(!profile('<?php ' . BUSY . ' busy(0.05);', ['strobe.request_rate' => '0'])->messages, 'at a rate of 0 none is');

// Short requests are seen as often as they deserve: 100 runs of about 5 ms at a period of 50 ms give about 10 samples, and 40 at 20 ms.
[$all, $period] = in_full() ? [100, 0.05] : [40, 0.02];
$samples = $deserved = 0;
for ($i = 0; $i < $all; $i++) {
	$run = profile('<?php ' . BUSY . ' busy(0.005); echo microtime(true) - $_SERVER["REQUEST_TIME_FLOAT"];', ['strobe.period' => $period]);
	$samples += $run->samples();
	$deserved += (float)$run->stdout / $period;
}
check($samples > 0.1 * $deserved && $samples < 2 * $deserved + 25, "$samples samples of $all short runs, which deserve $deserved");
echo "done\n";
?>
--EXPECT--
done
