--TEST--
The trigger secret on the built-in server: header, cookie and query each trace one request; nothing else does
--EXTENSIONS--
sockets
--FILE--
<?php
require __DIR__ . '/server.inc';

const SECRET = 'open sesame/äé+&%41;x';		// 23 bytes, each of them a trap for URLs
const ENCODED = 'open+sesame%2F%C3%A4%c3%a9%2b%26%2541%3bx';

$receiver = new Receiver();
file_put_contents("$receiver->directory/page.php", '<?php
function page() { usleep(1000); return 1; }
page();
$seen = [ini_get("strobe.trigger_secret"), get_cfg_var("strobe.trigger_secret"), ini_get_all("strobe")["strobe.trigger_secret"]["local_value"],
	ini_get_all("strobe")["strobe.trigger_secret"]["global_value"], (new ReflectionExtension("strobe"))->getINIEntries()["strobe.trigger_secret"],
	ini_get_all()["strobe.trigger_secret"]["local_value"], ini_set("strobe.trigger_secret", "0123456789abcdef0123")];
ini_restore("strobe.trigger_secret");
ob_start();
phpinfo(INFO_MODULES);
$info = ob_get_clean();
if (isset($_GET["code"]))
	http_response_code((int)$_GET["code"]);
Strobe\add_label("uri", $_SERVER["REQUEST_URI"]);
echo serialize([$seen, str_contains($info, "sesame"), Strobe\is_tracing(), preg_match("~Trigger (</td><td class=\"v\">|=> )(\w+)~", $info, $m) ? $m[2] : "?"]);
');
$server = new Server($receiver, ['strobe.mode' => 'off', 'strobe.trigger_secret' => SECRET]);
/* One request; returns what the page said and the run it became, if any. */
function ask(string $path, array $headers = [], string $method = 'GET'): array
{
	global $receiver, $server;

	$receiver->messages = [];
	$answer = $server->get($path, ['method' => $method, 'header' => $headers]);
	$server->settle();
	return [unserialize($answer), $receiver->messages[0] ?? null];
}

$right = ['header' => ['/page.php', ['X-Strobe-Trace: ' . SECRET]],
	'header, encoded' => ['/page.php', ['x-strobe-trace: ' . rawurlencode(SECRET)]],
	'cookie' => ['/page.php', ['Cookie: a=b; STROBE_TRACE=' . rawurlencode(SECRET) . '; c=d']],
	'only cookie' => ['/page.php', ['Cookie: STROBE_TRACE=' . ENCODED]],
	'query' => ['/page.php?STROBE_TRACE=' . ENCODED],
	'query with others' => ['/page.php?a=1&STROBE_TRACE=' . rawurlencode(SECRET) . '&b=2'],
	'encoded name' => ['/page.php?STROBE%5fTRACE=' . ENCODED],
	'POST' => ['/page.php?STROBE_TRACE=' . ENCODED, [], 'POST'],
	'wrong and right' => ['/page.php?STROBE_TRACE=wrong', ['Cookie: STROBE_TRACE=' . rawurlencode(SECRET)]]];
foreach ($right as $what => $request) {
	[$answer, $m] = ask(...$request);
	check($answer[2] && $m, "by $what it is traced");
	check($m && $m['labels']['source'] === 'trigger' && (run_calls($m)['page'] ?? 0) === 1 && (run_calls($m)['usleep'] ?? 0) === 1, "by $what it is a run");
	check($answer[0] === ['', '', '', '', '', '', false] && $answer[1] === false && $answer[3] === 'on', "by $what the program sees " . json_encode([$answer[0], $answer[1], $answer[3]]));
	if (!$m)
		continue;
	$text = urldecode(urldecode(implode("\n", $m['strings'])));
	check(!str_contains($text, 'sesame') && !str_contains($m['labels']['url'], 'STROBE'), "by $what the run does not hold it: " . json_encode($m['labels']));
	check($m['labels']['method'] === (($request[2] ?? 'GET')) && $m['labels']['http_status'] === '200' && $m['labels']['entry'] === 'page' && $m['labels']['sapi'] === 'cli-server', json_encode($m['labels']));
}

$wrong = ['nothing' => ['/page.php'],
	'an empty one' => ['/page.php?STROBE_TRACE=', ['X-Strobe-Trace: ', 'Cookie: STROBE_TRACE=']],
	'its beginning' => ['/page.php?STROBE_TRACE=' . rawurlencode(substr(SECRET, 0, -1))],
	'one byte more' => ['/page.php?STROBE_TRACE=' . rawurlencode(SECRET . 'x')],
	'a zero byte more' => ['/page.php?STROBE_TRACE=' . rawurlencode(SECRET . "\0")],
	'another case' => ['/page.php', ['X-Strobe-Trace: ' . strtoupper(SECRET)]],
	'the last byte wrong' => ['/page.php', ['X-Strobe-Trace: ' . substr(SECRET, 0, -1) . 'y']],
	'another parameter' => ['/page.php?TRACE=' . ENCODED, ['Cookie: XSTROBE_TRACE=' . ENCODED]],
	'a long one' => ['/page.php?STROBE_TRACE=' . str_repeat('x', 5000)]];
foreach ($wrong as $what => $request) {
	[$answer, $m] = ask(...$request);
	check($answer && !$answer[2] && !$m, "by $what it is not traced");
}

// The part of the URL that is kept.
$header = ['X-Strobe-Trace: ' . SECRET];
foreach (['/page.php' => '/page.php', '/page.php?a=1&b=%20x' => '/page.php?a=1&b=%20x', '/page.php?a=1&STROBE_TRACE=wrong&b=2' => '/page.php?a=1&b=2',
	'/page.php?strobe_trace=wrong' => '/page.php', '/page.php?a=x' . ENCODED . 'y&b=2' => '/page.php?b=2',
	'/page.php?' . ENCODED . '=1&b=2' => '/page.php?b=2', '/page.php?u=' . urlencode('/page.php?STROBE_TRACE=' . ENCODED) . '&b=2' => '/page.php?b=2',
	'/page.php?u=' . urlencode(urlencode(urlencode(SECRET))) => '/page.php',
	'/page.php?a=' . rawurlencode('open sesame/äé+') . '&b=1' => '/page.php?a=' . rawurlencode('open sesame/äé+') . '&b=1',
	'/page.php?code=404&&x' => '/page.php?code=404&x', '/page.php/' . ENCODED => null, '/page.php/info?x=1' => '/page.php/info?x=1'] as $asked => $kept) {
	[, $m] = ask($asked, $header);
	check($m && ($m['labels']['url'] ?? null) === $kept, "$asked becomes " . json_encode($m['labels']['url'] ?? null));
	check($m && !str_contains(urldecode(urldecode(urldecode(implode("\n", $m['strings'])))), 'sesame/äé+&'), "nowhere in the run of $asked");
	if (str_contains($asked, 'code='))
		check($m['labels']['http_status'] === '404', 'the status: ' . $m['labels']['http_status']);
}
[, $m] = ask('/page.php?long=' . str_repeat('abc%20', 300), $header);
check(strlen($m['labels']['url']) === 1024, 'a long URL is cut: ' . strlen($m['labels']['url'] ?? ''));
check($receiver->accepted === 1, "$receiver->accepted connection for all runs");
$server->stop();
echo "done\n";
?>
--EXPECT--
done
