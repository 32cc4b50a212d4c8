--TEST--
excimer: a server survives requests that leave timers running, with a single thread
--EXTENSIONS--
sockets
--FILE--
<?php
require __DIR__ . '/server.inc';

$receiver = new Receiver();
file_put_contents("$receiver->directory/index.php", '<?php
function work($s) { for ($end = microtime(true) + $s; microtime(true) < $end;) for ($i = 0; $i < 50; $i++); }
$t = new ExcimerTimer(); $t->setPeriod(0.0005); $t->setCallback(function () { $GLOBALS["n"]++; }); $n = 0; $t->start();
$p = new ExcimerProfiler(); $p->setPeriod(0.0005); $p->start();
for ($end = microtime(true) + 10; (!$n || !count($p->getLog())) && microtime(true) < $end;) work(0.001);
$GLOBALS["cycle"] = [$t, $p]; $t->self = 1;
preg_match("/^Threads:\s+(\d+)/m", file_get_contents("/proc/self/status"), $m);
echo $n > 0 ? "ticks" : "none", " ", count($p->getLog()) > 0 ? "samples" : "none", " ", (int)$m[1];');
$server = new Server($receiver, ['strobe.compat' => 'excimer', 'error_reporting' => (string)(E_ALL & ~E_DEPRECATED)]);
for ($i = 0; $i < 30; $i++) {
	$answer = $server->get('/');
	check($answer === 'ticks samples 2', "request $i: $answer");
}
check($server->running(), 'it still runs');
$server->stop();
echo "done\n";
?>
--EXPECT--
done
