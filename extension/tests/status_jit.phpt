--TEST--
Where the JIT makes samples unsafe, phpinfo() and Strobe\status() say so, and the daemon hears how many are missing
--EXTENSIONS--
sockets
--SKIPIF--
<?php
if (!is_file(ini_get('extension_dir') . '/opcache.so') && PHP_VERSION_ID < 80500) die('skip there is no opcache');
?>
--FILE--
<?php
require __DIR__ . '/strobe.inc';

const JIT = ['strobe.instrument' => '0', 'opcache.enable_cli' => '1', 'opcache.jit' => 'tracing', 'opcache.jit_buffer_size' => '32M']
	+ (PHP_VERSION_ID < 80500 ? ['zend_extension' => 'opcache'] : []);

$run = profile('<?php usleep(500000); echo json_encode([Strobe\is_sampling(), Strobe\status()["sampling"], strlen(Strobe\status()["message"]) > 20]); (new ReflectionExtension("strobe"))->info();', JIT + ['strobe.period' => '0.01']);
check(str_starts_with($run->stdout, '[false,false,true]'), $run->stdout);
check(preg_match('~^This request is sampled => no: .{20,}$~m', $run->stdout) === 1 && str_contains($run->stdout, 'Requests not sampled: prevented by the JIT => 1'), $run->stdout);
check(count($run->messages) === 1 && !$run->messages[0]['nodes'] && array_keys($run->messages[0]['drops']) === [6], 'one message without samples: ' . json_encode(array_column($run->messages, 'drops')));
check(abs($run->messages[0]['drops'][6] - 50) <= 10, "what half a second at 10 ms would have: {$run->messages[0]['drops'][6]}");

// Many requests of one process, with a share of them chosen: told at once, then not more often than every ten seconds, and at its end.
$receiver = new Receiver();
file_put_contents("$receiver->directory/page.php", '<?php usleep(20000);');
$probe = stream_socket_server('tcp://127.0.0.1:0');
$address = stream_socket_get_name($probe, false);
fclose($probe);
$process = proc_open(php_command(JIT + ['strobe.mode' => 'sample', 'strobe.period' => '0.001', 'strobe.socket' => $receiver->path], ['-S', $address, '-t', $receiver->directory]),
	[['file', '/dev/null', 'r'], ['file', '/dev/null', 'w'], ['file', '/dev/null', 'w']], $pipes);
for ($i = 0; $i < 100 && @file_get_contents("http://$address/page.php") === false; $i++)
	usleep(50000);
for ($i = 0; $i < 30; $i++)
	file_get_contents("http://$address/page.php");
$receiver->poll();
check(count($receiver->messages) === 1, count($receiver->messages) . ' messages while it runs');
proc_terminate($process, 2);
while (proc_get_status($process)['running'])
	usleep(10000);
proc_close($process);
$receiver->poll();
$lost = array_sum(array_map(fn($m) => $m['drops'][6] ?? 0, $receiver->messages));
check(count($receiver->messages) === 2 && $lost >= 30 * 20, count($receiver->messages) . " messages, $lost samples");
check(!array_filter($receiver->messages, fn($m) => $m['nodes']), 'no samples among them');
echo "done\n";
?>
--EXPECT--
done
