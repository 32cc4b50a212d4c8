--TEST--
The built-in server: one message per request with entry and method, one thread and one connection per process
--EXTENSIONS--
sockets
--FILE--
<?php
require __DIR__ . '/server.inc';

$receiver = new Receiver();
file_put_contents("$receiver->directory/page.php", '<?php ' . DOZE . ' doze(0.05); echo getmypid(), " ", count(scandir("/proc/self/task")) - 2;');
file_put_contents("$receiver->directory/other.php", '<?php ' . DOZE . ' doze(0.05);');
$server = new Server($receiver, ['strobe.mode' => 'sample', 'strobe.period' => '0.001']);
$server->get('/other.php');
$answers = [];
for ($i = 0; $i < 20; $i++) {
	$answers[] = $server->get('/page.php');
	$receiver->poll();
}
$server->get('/other.php', ['method' => 'POST', 'header' => 'Content-Type: text/plain', 'content' => 'x=1']);
$server->settle();
$server->stop();
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
