--TEST--
The trigger secret of an FPM pool: set in the pool, hidden in its workers, good for all their requests
--EXTENSIONS--
sockets
--SKIPIF--
<?php
if (PHP_ZTS) die('skip the php-fpm of Debian is not thread-safe');
if (!is_executable('/usr/sbin/php-fpm' . PHP_MAJOR_VERSION . '.' . PHP_MINOR_VERSION)) die('skip there is no php-fpm');
?>
--FILE--
<?php
require __DIR__ . '/strobe.inc';

const SECRET = 'secret of the pool, 27 b';

/* A FastCGI request over a new connection; returns what came on stdout. */
function fastcgi(string $socket, array $params): string
{
	$record = fn($type, $data) => pack('CCnnCC', 1, $type, 1, strlen($data), 0, 0) . $data;
	$pairs = '';
	foreach ($params as $name => $value)
		$pairs .= pack('NN', strlen($name) | 0x80000000, strlen($value) | 0x80000000) . $name . $value;
	$c = stream_socket_client("unix://$socket", $e, $m, 10);
	fwrite($c, $record(1, pack('nCx5', 1, 0)) . $record(4, $pairs) . $record(4, '') . $record(5, ''));
	$bytes = stream_get_contents($c);
	for ($out = '', $at = 0; $at + 8 <= strlen($bytes); $at += 8 + $h['length'] + $h['padding']) {
		$h = unpack('Cversion/Ctype/nid/nlength/Cpadding', $bytes, $at);
		if ($h['type'] === 6)
			$out .= substr($bytes, $at + 8, $h['length']);
	}
	return $out;
}

$receiver = new Receiver();
$d = $receiver->directory;
file_put_contents("$d/page.php", '<?php
function page() {}
page();
$all = ini_get_all("strobe")["strobe.trigger_secret"];
ob_start();
phpinfo();
echo json_encode([Strobe\is_tracing(), getmypid(), ini_get("strobe.trigger_secret"), $all["global_value"], $all["local_value"], get_cfg_var("strobe.trigger_secret"),
	str_contains(html_entity_decode(preg_replace("~HTTP_X_STROBE_TRACE.*|.*HTTP_COOKIE.*|.*QUERY_STRING.*|.*_URI.*|.*STROBE_TRACE.*~", "", ob_get_clean())), "secret of the")]);
if (isset($_GET["finish"])) {
	fastcgi_finish_request();
	function after() { usleep(1000); }
	after();
}
');
$user = posix_getuid_name();
file_put_contents("$d/fpm.conf", "[global]\nerror_log = $d/log\ndaemonize = no\n[www]\nlisten = $d/fpm\n" . ($user ? "user = $user\n" : '') . "pm = static\npm.max_children = 1\n"
	. 'php_admin_value[strobe.trigger_secret] = "' . SECRET . "\"\nphp_admin_value[strobe.labels] = \"pool=www\"\n");
$command = php_command(['strobe.mode' => 'off', 'strobe.instrument' => '1', 'strobe.socket' => $receiver->path], ['-R', '-F', '-y', "$d/fpm.conf"]);
$command[0] = '/usr/sbin/php-fpm' . PHP_MAJOR_VERSION . '.' . PHP_MINOR_VERSION;
$process = proc_open($command, [['file', '/dev/null', 'r'], ['file', '/dev/null', 'w'], ['file', '/dev/null', 'w']], $pipes);
for ($i = 0; $i < 200 && !@stream_socket_client("unix://$d/fpm"); $i++)
	usleep(50000);

function ask(array $params): array
{
	global $d, $receiver;

	$receiver->messages = [];
	$answer = fastcgi("$d/fpm", $params + ['REQUEST_METHOD' => 'GET', 'SCRIPT_FILENAME' => "$d/page.php", 'SCRIPT_NAME' => '/page.php', 'REQUEST_URI' => '/nice/url?' . ($params['QUERY_STRING'] ?? ''), 'DOCUMENT_ROOT' => $d]);
	for ($i = 0; $i < 20 && !$receiver->messages; $i++) {
		usleep(5000);
		$receiver->poll();
	}
	return [json_decode(explode("\r\n\r\n", $answer, 2)[1] ?? ''), $receiver->messages[0] ?? null];
}

$pids = [];
for ($round = 0; $round < 3; $round++) {
	foreach (['header' => ['HTTP_X_STROBE_TRACE' => SECRET], 'cookie' => ['HTTP_COOKIE' => 'STROBE_TRACE=' . rawurlencode(SECRET)],
		'query' => ['QUERY_STRING' => 'STROBE_TRACE=' . urlencode(SECRET) . '&finish=1']] as $what => $params) {
		[$answer, $m] = ask($params);
		check($answer && $answer[0] === true && array_slice($answer, 2) === ['', '', '', false, false] && $m && $m['labels']['source'] === 'trigger', "round $round, by $what: " . json_encode([$answer, $m['labels'] ?? null]));
		check($m && $m['labels']['url'] === ($what === 'query' ? '/nice/url?finish=1' : '/nice/url') && $m['labels']['pool'] === 'www' && $m['labels']['sapi'] === 'fpm-fcgi' && $m['labels']['entry'] === 'page', json_encode($m['labels'] ?? null));
		check($m && run_calls($m)['page'] === 1 && (run_calls($m)['after'] ?? 0) === ($what === 'query' ? 1 : 0), 'to the very end of the request');
		$pids[] = $answer[1];
	}
	[$answer, $m] = ask(['HTTP_X_STROBE_TRACE' => SECRET . '!']);
	check($answer && $answer[0] === false && !$m, "round $round, a wrong one");
}
check(count(array_unique($pids)) === 1 && $receiver->accepted === 1, 'one worker, one connection');
proc_terminate($process, 15);
proc_close($process);
foreach (glob("$d/*") as $file)
	if (filetype($file) !== 'file' && $file !== $receiver->path)
		unlink($file);
echo "done\n";

function posix_getuid_name(): string
{
	return fileowner('/proc/self') === 0 ? 'root' : '';
}
?>
--EXPECT--
done
