--TEST--
Without the call observer tracing is reported as unavailable, and everything else works
--EXTENSIONS--
sockets
--FILE--
<?php
require __DIR__ . '/strobe.inc';

$look = '<?php
echo json_encode([Strobe\can_trace(), Strobe\is_tracing(), Strobe\is_sampling()]), "\n";
try {
	Strobe\Trace::start();
} catch (Strobe\Exception $e) {
	echo $e->getMessage(), "\n";
}
$s = new Strobe\Sampler(3600);
$s->start();
echo count($s->stop()), "\n";
';
$off = ['strobe.mode' => 'off'];
foreach ([[], ['strobe.instrument' => '0'], ['strobe.instrument' => '0', 'strobe.trace_rate' => '1'], ['strobe.compat' => 'excimer']] as $ini) {
	$run = profile($look, $ini + $off);
	check($run->stdout === "[false,false,false]\nTracing needs the call observer: set strobe.instrument=1 in php.ini (it is read when PHP starts)\n0\n" && !$run->messages, json_encode($ini) . ": $run->stdout");
}
foreach ([['strobe.instrument' => '1'], ['strobe.trigger_secret' => '0123456789abcdef'], ['strobe.trace_rate' => '0.000001'], ['strobe.compat' => 'xhprof']] as $ini) {
	$run = profile($look, $ini + $off);
	check($run->stdout === "[true,false,false]\n0\n", json_encode($ini) . ": $run->stdout");
}
echo "done\n";
?>
--EXPECT--
done
