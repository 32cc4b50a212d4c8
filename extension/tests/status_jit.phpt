--TEST--
When the JIT makes sampling unsafe, phpinfo() and Strobe\status() report it, and the daemon receives the number of missed samples
--EXTENSIONS--
sockets
--SKIPIF--
<?php
if (!is_file(ini_get('extension_dir') . '/opcache.so') && PHP_VERSION_ID < 80500) die('skip there is no opcache');
?>
--FILE--
<?php
require __DIR__ . '/server.inc';

const JIT = ['strobe.instrument' => '0', 'opcache.enable_cli' => '1', 'opcache.jit' => 'tracing', 'opcache.jit_buffer_size' => '32M']
	+ (PHP_VERSION_ID < 80500 ? ['zend_extension' => 'opcache'] : []);

$run = profile('<?php usleep(500000); $ms = (microtime(true) - $_SERVER["REQUEST_TIME_FLOAT"]) * 1000; echo json_encode([Strobe\is_sampling(), Strobe\status()["sampling"], strlen(Strobe\status()["message"]) > 20]); (new ReflectionExtension("strobe"))->info(); echo "$ms ms";', JIT + ['strobe.period' => '0.01']);
check(str_starts_with($run->stdout, '[false,false,true]'), $run->stdout);
check(preg_match('~^This request is sampled => no: .{20,}$~m', $run->stdout) === 1 && str_contains($run->stdout, 'Requests not sampled: prevented by the JIT => 1'), $run->stdout);
check(count($run->messages) === 1 && !$run->messages[0]['nodes'] && array_keys($run->messages[0]['drops']) === [6], 'one message without samples: ' . json_encode(array_column($run->messages, 'drops')));
$ms = preg_match('/([\d.]+) ms$/', $run->stdout, $m) ? (float)$m[1] : 0;
check($ms >= 500 && abs($run->messages[0]['drops'][6] - $ms / 10) <= 10, "what $ms ms at 10 ms would have: {$run->messages[0]['drops'][6]}");

// Many requests of one process, with a share of them chosen: told at once, then not more often than every ten seconds, and at its end.
$receiver = new Receiver();
file_put_contents("$receiver->directory/page.php", '<?php usleep(20000);');
$server = new Server($receiver, JIT + ['strobe.mode' => 'sample', 'strobe.period' => '0.001']);
for ($i = 0; $i < 30; $i++)
	$server->get('/page.php');
$server->settle();
check(count($receiver->messages) === 1, count($receiver->messages) . ' messages while it runs');
$server->stop(2);
$lost = array_sum(array_map(fn($m) => $m['drops'][6] ?? 0, $receiver->messages));
check(count($receiver->messages) === 2 && $lost >= 30 * 20, count($receiver->messages) . " messages, $lost samples");
check(!array_filter($receiver->messages, fn($m) => $m['nodes']), 'no samples among them');
echo "done\n";
?>
--EXPECT--
done
