--TEST--
The trigger secret with php-cgi, .user.ini and invalid settings; the environment of a command line is ignored
--EXTENSIONS--
sockets
--SKIPIF--
<?php
foreach (['/php-cgi' . PHP_MAJOR_VERSION . '.' . PHP_MINOR_VERSION, '/php-cgi'] as $name)
	if (is_executable(PHP_BINDIR . $name))
		exit;
echo 'skip there is no php-cgi';
?>
--FILE--
<?php
require __DIR__ . '/strobe.inc';

const SECRET = 'fedcba9876543210';
const PAGE = '<?php
function page() {}
page();
ob_start();
phpinfo(INFO_MODULES);
$info = strip_tags(ob_get_clean());
preg_match("~Trigger (=> )?(.*)~", $info, $m);
$secrets = [ini_get("strobe.trigger_secret"), get_cfg_var("strobe.trigger_secret"), ini_get_all("strobe")["strobe.trigger_secret"]["global_value"], preg_match("~fedcba|56789012345~", $info)];
echo serialize([trim($m[2]), $secrets, isset($GLOBALS["_SERVER"])]);
';

$cgi = null;
foreach (['/php-cgi' . PHP_MAJOR_VERSION . '.' . PHP_MINOR_VERSION, '/php-cgi'] as $name)
	$cgi ??= is_executable(PHP_BINDIR . $name) ? PHP_BINDIR . $name : null;

/* One request; returns the answer and the runs. */
function ask(array $ini, array $env = [], string $page = PAGE, ?string $user_ini = null): array
{
	global $cgi;

	$receiver = new Receiver();
	file_put_contents("$receiver->directory/page.php", $page);
	if ($user_ini !== null)
		file_put_contents("$receiver->directory/.user.ini", $user_ini);
	$env += ['REDIRECT_STATUS' => '1', 'REQUEST_METHOD' => 'GET', 'SCRIPT_FILENAME' => "$receiver->directory/page.php", 'SCRIPT_NAME' => '/page.php',
		'REQUEST_URI' => '/rewritten' . (isset($env['QUERY_STRING']) ? "?$env[QUERY_STRING]" : ''), 'DOCUMENT_ROOT' => $receiver->directory];
	$command = php_command(['strobe.mode' => 'off', 'strobe.socket' => $receiver->path] + $ini, []);
	$command[0] = $cgi;
	$p = proc_open($command, [['file', '/dev/null', 'r'], ['pipe', 'w'], ['pipe', 'w']], $pipes, null, $env + getenv());
	$answer = stream_get_contents($pipes[1]) . stream_get_contents($pipes[2]);
	check(proc_close($p) === 0, "php-cgi ends well: $answer");
	$receiver->poll();
	@unlink("$receiver->directory/.user.ini");
	return [@unserialize(explode("\r\n\r\n", $answer, 2)[1] ?? ''), array_values(array_filter($receiver->messages, fn($m) => $m['kind'] === 2)), $answer];
}

$set = ['strobe.trigger_secret' => SECRET];
foreach (['header' => ['HTTP_X_STROBE_TRACE' => SECRET], 'cookie' => ['HTTP_COOKIE' => 'STROBE_TRACE=' . SECRET],
	'query' => ['QUERY_STRING' => 'a=1&STROBE_TRACE=' . SECRET]] as $what => $env) {
	[$answer, $runs] = ask($set, $env);
	check($answer && $answer[0] === 'on' && $answer[1] === ['', '', '', 0], "by $what the program sees " . json_encode($answer));
	check(count($runs) === 1 && $runs[0]['labels']['source'] === 'trigger' && run_calls($runs[0])['page'] === 1, "by $what it is a run");
	check($runs && $runs[0]['labels']['url'] === ($what === 'query' ? '/rewritten?a=1' : '/rewritten'), 'the URL that the client asked for');
	check($runs && !in_array(SECRET, $runs[0]['strings'], true), 'without the secret');
}
[$answer, $runs] = ask($set, ['HTTP_X_STROBE_TRACE' => strrev(SECRET)]);
check($answer && !$runs, 'a wrong one is none');

// PHP's variables are made when they are asked for, by the program and not by us.
[$answer, , $text] = ask($set + ['auto_globals_jit' => '1'], ['HTTP_X_STROBE_TRACE' => SECRET], '<?php $all = $GLOBALS; echo json_encode([isset($all["_SERVER"]), isset($all["_REQUEST"])]);');
check(str_ends_with($text, '[false,false]'), "variables of the program: $text");

// Settings that cannot be.
foreach (['fedcba987654321' => 'off: strobe.trigger_secret must have 16 to 256 bytes', str_repeat('567890123456789012345', 13) => 'off: strobe.trigger_secret must have 16 to 256 bytes', '' => 'off: strobe.trigger_secret is empty'] as $secret => $state) {
	[$answer, $runs] = ask(['strobe.trigger_secret' => $secret], ['HTTP_X_STROBE_TRACE' => $secret]);
	check($answer && $answer[0] === $state && $answer[1] === ['', '', '', 0] && !$runs, "with $secret: " . json_encode($answer));
}
[$answer, $runs] = ask($set + ['strobe.instrument' => '0'], ['HTTP_X_STROBE_TRACE' => SECRET]);
check($answer && str_starts_with($answer[0], 'off: strobe.trigger_secret needs the call observer') && !$runs, json_encode($answer));

// A directory's own.
$other = 'fedcba9876543210-mine';
[$answer, $runs] = ask($set, ['HTTP_X_STROBE_TRACE' => $other], PAGE, "strobe.trigger_secret=$other\n");
check($answer && $answer[1] === ['', '', '', 0] && count($runs) === 1, 'by .user.ini: ' . json_encode([$answer, count($runs)]));
[$answer, $runs] = ask($set, ['HTTP_X_STROBE_TRACE' => SECRET], PAGE, "strobe.trigger_secret=$other\n");
check($answer && !$runs, 'it counts in place of that of php.ini');
[$answer, $runs] = ask($set, ['HTTP_X_STROBE_TRACE' => SECRET], PAGE, "strobe.trigger_secret=short\n");
check($answer && !$runs && str_starts_with($answer[0], 'off: ') && $answer[1] === ['', '', '', 0], 'a short one turns it off');

// A share of requests, and labels of the request.
[, $runs] = ask(['strobe.trace_rate' => '1'], ['REQUEST_METHOD' => 'HEAD', 'QUERY_STRING' => 'x=1'], '<?php http_response_code(503);');
check(count($runs) === 1 && $runs[0]['labels']['source'] === 'sampled' && $runs[0]['labels']['http_status'] === '503' && $runs[0]['labels']['method'] === 'HEAD' && $runs[0]['labels']['sapi'] === 'cgi-fcgi', json_encode($runs[0]['labels'] ?? null));

// The environment of a command line is no request.
$run = profile('<?php echo Strobe\is_tracing() ? "traced" : "not traced";', $set + ['strobe.mode' => 'off'], env: ['HTTP_X_STROBE_TRACE' => SECRET, 'HTTP_COOKIE' => 'STROBE_TRACE=' . SECRET, 'QUERY_STRING' => 'STROBE_TRACE=' . SECRET]);
check($run->stdout === 'not traced' && !$run->messages, "command line: $run->stdout");
echo "done\n";
?>
--EXPECT--
done
