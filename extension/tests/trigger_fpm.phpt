--TEST--
The trigger secret of an FPM pool: set in the pool, hidden in its workers, valid for all their requests
--EXTENSIONS--
sockets
--SKIPIF--
<?php require __DIR__ . '/fpm.inc'; fpm_skip(); ?>
--FILE--
<?php
require __DIR__ . '/strobe.inc';
require __DIR__ . '/fpm.inc';

const SECRET = 'secret of the pool, 27 b';

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
file_put_contents("$d/empty.php", '<?php');
$fpm = new Fpm($d, ['www' => ['php_admin_value[strobe.trigger_secret] = "' . SECRET . '"', 'php_admin_value[strobe.labels] = "pool=www"']],
	['strobe.mode' => 'off', 'strobe.instrument' => '1', 'strobe.socket' => $receiver->path]);

function ask(array $params): array
{
	global $d, $fpm, $receiver;

	$receiver->messages = [];
	$answer = $fpm->get('www', "$d/page.php", $params + ['REQUEST_URI' => '/nice/url?' . ($params['QUERY_STRING'] ?? '')]);
	/* The worker has done with one request before it takes the next. */
	$fpm->get('www', "$d/empty.php");
	$receiver->poll();
	return [json_decode($answer), $receiver->messages[0] ?? null];
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
$fpm->stop();
foreach (glob("$d/*") as $file)
	if (filetype($file) !== 'file' && $file !== $receiver->path)
		unlink($file);
echo "done\n";
?>
--EXPECT--
done
