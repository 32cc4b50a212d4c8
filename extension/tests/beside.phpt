--TEST--
Excimer and Strobe both take samples when loaded together, in either order
--EXTENSIONS--
sockets
--SKIPIF--
<?php
if (!file_exists(getenv('STROBE_TEST_EXCIMER') ?: ini_get('extension_dir') . '/excimer.so'))
	die('skip php-excimer is not installed (STROBE_TEST_EXCIMER names one that is elsewhere)');
?>
--FILE--
<?php
require __DIR__ . '/strobe.inc';

$code = '<?php ' . BUSY . '
$e = new ExcimerProfiler;
$e->setPeriod(0.001);
$e->setEventType(EXCIMER_REAL);
$e->start();
busy(0.4);
$e->stop();
$n = 0;
foreach ($e->getLog() as $entry)
	$n += $entry->getEventCount();
echo $n;
';
$original = getenv('STROBE_TEST_EXCIMER') ?: ini_get('extension_dir') . '/excimer.so';
foreach ([[$original, extension_path()], [extension_path(), $original]] as $order) {
	// On a busy machine Excimer by itself ends one process in fifteen with a signal: its timer's thread outlives it.
	for ($tries = 0; $tries < 5; $tries++) {
		$run = profile($code, ['extension' => $order]);
		if ($run->status === 0)
			break;
	}
	check($run->status === 0 && (int)$run->stdout >= 200, "Excimer has its samples: $run->stdout");
	check($run->with('busy') >= 350, "and so have we: {$run->with('busy')}");
}
echo "done\n";
?>
--EXPECT--
done
