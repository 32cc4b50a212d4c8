--TEST--
excimer: a server whose requests leave their timers running serves the next ones, with one thread
--EXTENSIONS--
sockets
--FILE--
<?php
require __DIR__ . '/strobe.inc';

$folder = sys_get_temp_dir() . '/strobe-excimer-' . getmypid();
mkdir($folder);
file_put_contents("$folder/index.php", '<?php
function work($s) { for ($end = microtime(true) + $s; microtime(true) < $end;) for ($i = 0; $i < 50; $i++); }
$t = new ExcimerTimer(); $t->setPeriod(0.0005); $t->setCallback(function () { $GLOBALS["n"]++; }); $n = 0; $t->start();
$p = new ExcimerProfiler(); $p->setPeriod(0.0005); $p->start();
for ($end = microtime(true) + 10; (!$n || !count($p->getLog())) && microtime(true) < $end;) work(0.001);
$GLOBALS["cycle"] = [$t, $p]; $t->self = 1;
preg_match("/^Threads:\s+(\d+)/m", file_get_contents("/proc/self/status"), $m);
echo $n > 0 ? "ticks" : "none", " ", count($p->getLog()) > 0 ? "samples" : "none", " ", (int)$m[1];');
$socket = stream_socket_server('tcp://127.0.0.1:0');
$address = stream_socket_get_name($socket, false);
fclose($socket);
$server = proc_open(php_command(['strobe.compat' => 'excimer', 'error_reporting' => (string)(E_ALL & ~E_DEPRECATED)],
	['-S', $address, '-t', $folder]), [['file', '/dev/null', 'r'], ['file', '/dev/null', 'w'], ['file', '/dev/null', 'w']], $pipes);
for ($i = 0; $i < 200 && !($c = @stream_socket_client("tcp://$address")); $i++)
	usleep(50000);
for ($i = 0; $i < 30; $i++) {
	$answer = file_get_contents("http://$address/");
	check($answer === 'ticks samples 2', "request $i: $answer");
}
check(proc_get_status($server)['running'], 'it still runs');
proc_terminate($server);
proc_close($server);
array_map('unlink', glob("$folder/*"));
rmdir($folder);
echo "done\n";
?>
--EXPECT--
done
