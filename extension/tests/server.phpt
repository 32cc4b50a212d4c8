--TEST--
The built-in server: one message per request with entry and method, one thread and one connection per process
--EXTENSIONS--
sockets
--FILE--
<?php
require __DIR__ . '/strobe.inc';

$receiver = new Receiver();
file_put_contents("$receiver->directory/page.php", '<?php ' . BUSY . ' busy(0.05); echo getmypid(), " ", count(scandir("/proc/self/task")) - 2;');
file_put_contents("$receiver->directory/other.php", '<?php ' . BUSY . ' busy(0.05);');
$probe = stream_socket_server('tcp://127.0.0.1:0');
$address = stream_socket_get_name($probe, false);
fclose($probe);
$ini = ['strobe.mode' => 'sample', 'strobe.period' => '0.001', 'strobe.socket' => $receiver->path];
$process = proc_open(php_command($ini, ['-S', $address, '-t', $receiver->directory]), [['file', '/dev/null', 'r'], ['file', '/dev/null', 'w'], ['file', '/dev/null', 'w']], $pipes);
for ($i = 0; $i < 100 && !@file_get_contents("http://$address/other.php"); $i++)
	usleep(is_resource(@stream_socket_client("tcp://$address")) ? 1000 : 50000);
$answers = [];
for ($i = 0; $i < 20; $i++) {
	$answers[] = file_get_contents("http://$address/page.php");
	$receiver->poll();
}
file_get_contents("http://$address/other.php", false, stream_context_create(['http' => ['method' => 'POST', 'header' => 'Content-Type: text/plain', 'content' => 'x=1']]));
usleep(200000);
$receiver->poll();
proc_terminate($process);
proc_close($process);
$pages = array_filter($receiver->messages, fn($m) => $m['labels']['entry'] === 'page');
check(count($pages) >= 15 && count($pages) <= 20, count($pages) . ' messages for 20 requests');
foreach ($pages as $m)
	check($m['labels']['method'] === 'GET' && $m['labels']['sapi'] === 'cli-server', json_encode($m['labels']));
$posts = array_filter($receiver->messages, fn($m) => $m['labels']['method'] === 'POST');
check(count($posts) === 1 && reset($posts)['labels']['entry'] === 'other', 'the POST is one');
check(count(array_unique($answers)) === 1 && str_ends_with($answers[0], ' 2'), 'one process with two threads all the time: ' . implode(', ', array_unique($answers)));
check($receiver->accepted === 1, "$receiver->accepted connection");
echo "done\n";
?>
--EXPECT--
done
