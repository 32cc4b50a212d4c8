--TEST--
strobe.trace_keep: random traces are kept for slow and failed requests and given statuses; code can start and discard its own
--EXTENSIONS--
sockets
--FILE--
<?php
require __DIR__ . '/server.inc';

const SECRET = 'a secret of 20 bytes';

$receiver = new Receiver();
file_put_contents("$receiver->directory/page.php", '<?php
function route() { return strrev("x"); }
route();
Strobe\set_entry($_GET["route"]);
Strobe\set_attribute("request_id", $_GET["route"] . "-17");
if (isset($_GET["keep"]))
	ini_set("strobe.trace_keep", $_GET["keep"]);
if (isset($_GET["trace"]))
	echo Strobe\trace_request(...array_filter([$_GET["trace"]])) ? "traced" : "not traced";
function handle() {
	usleep((int)($_GET["ms"] ?? 0) * 1000);
	if (isset($_GET["discard"]))
		echo Strobe\discard_trace() ? "discarded" : "stays", Strobe\is_tracing() ? "+" : "-";
	http_response_code((int)($_GET["code"] ?? 200));
	if (isset($_GET["throw"]))
		throw new LogicException;
	if (isset($_GET["catch"]))
		try { throw new LogicException; } catch (LogicException) {}
	if (isset($_GET["fatal"]))
		eval("class A {} class A {}");
	if (isset($_GET["warn"]))
		trigger_error("a warning", E_USER_WARNING);
	if (isset($_GET["handled"])) {
		set_error_handler(fn() => true);
		trigger_error("an error", E_USER_ERROR);
	}
}
handle();
');
file_put_contents("$receiver->directory/parse.php", '<?php broken broken');

/* Asks a server for each path, in turn; returns the runs by their entry, or count by it, and what was said. */
function serve(array $ini, array $paths, ?array &$said = null): array
{
	global $receiver;

	$server = new Server($receiver, $ini + ['strobe.mode' => 'off', 'strobe.instrument' => '1', 'display_errors' => '0']);
	$runs = $said = [];
	foreach ($paths as $path => $headers) {
		$receiver->messages = [];
		$said[] = $server->get($path, ['header' => $headers]);
		$server->settle();
		foreach ($receiver->messages as $m)
			$runs[$m['labels']['entry']] = $m;
	}
	$server->stop();
	return $runs;
}

// A filter on what chance began. The trigger's are always kept, whatever code says.
$runs = serve(['strobe.trace_rate' => '1', 'strobe.trace_keep' => 'slow:1s,status:5xx,status:404,failed', 'strobe.trigger_secret' => SECRET], [
	'/page.php?route=plain' => [], '/page.php?route=slow&ms=1100' => [], '/page.php?route=e500&code=500' => [], '/page.php?route=e503&code=503' => [],
	'/page.php?route=e404&code=404' => [], '/page.php?route=e403&code=403' => [], '/page.php?route=e302&code=302' => [], '/page.php?route=thrown&throw' => [],
	'/page.php?route=caught&catch' => [], '/page.php?route=fatal&fatal' => [], '/page.php?route=warned&warn' => [], '/page.php?route=handled&handled' => [],
	'/parse.php' => [], '/page.php?route=asked' => ['X-Strobe-Trace: ' . SECRET], '/page.php?route=asked2&discard' => ['X-Strobe-Trace: ' . SECRET],
	'/page.php?route=discarded&discard&ms=1100' => [], '/page.php?route=changed&keep=slow:20s&code=500' => [], '/page.php?route=all&keep=' => [],
], $said);
check(array_keys($runs) === ['slow', 'e500', 'e503', 'e404', 'thrown', 'fatal', 'parse', 'asked', 'asked2', 'all'], json_encode(array_keys($runs)));
check(array_column(array_column($runs, 'labels'), 'failed', 'entry') === ['thrown' => '1', 'fatal' => '1', 'parse' => '1'], json_encode(array_column($runs, 'labels')));
check(array_unique(array_map(fn($m) => $m['labels']['source'], array_diff_key($runs, ['asked' => 1, 'asked2' => 1]))) === ['slow' => 'sampled'] && $runs['asked']['labels']['source'] === 'trigger', 'sources');
check($runs['e404']['labels']['http_status'] === '404' && $runs['e404']['labels']['url'] === '/page.php?route=e404&code=404' && $runs['e404']['labels']['request_id'] === 'e404-17', json_encode($runs['e404']['labels']));
check($said[14] === 'stays+' && $said[15] === 'discarded-', json_encode($said));
check((run_calls($runs['slow'])['route'] ?? 0) === 1, 'from the beginning');

// A trace that code begins is kept, or kept as code says; it begins there.
$runs = serve(['strobe.trace_keep' => 'slow:10s'], [
	'/page.php?route=plain' => [], '/page.php?route=wanted&trace=' => [], '/page.php?route=not_slow&trace=slow:5s' => [], '/page.php?route=slow&trace=slow:50ms&ms=60' => [],
	'/page.php?route=refused&trace=nonsense' => [], '/page.php?route=discarded&trace=&discard' => [],
], $said);
check(array_keys($runs) === ['wanted', 'slow'] && $runs['wanted']['labels']['source'] === 'code', json_encode(array_keys($runs)));
check($said[1] === 'traced' && $said[5] === 'traceddiscarded-', json_encode($said));
check(!isset(run_calls($runs['wanted'])['route']) && run_calls($runs['wanted'])['handle'] === 1, json_encode(run_calls($runs['wanted'])));

// Without the observer the program learns that it is not traced.
$runs = serve(['strobe.instrument' => '0'], ['/page.php?route=x&trace=' => []], $said);
check(!$runs && $said === ['not traced'], json_encode($said));

// The duration counts from the beginning of the request; the numbers are in phpinfo.
$run = profile('<?php
usleep(60000);
echo Strobe\trace_request("slow:50ms") ? "traced " : "";
Strobe\trace_request("slow:40ms");
Strobe\Unit::run("u", fn() => 0, [], ["trace" => true, "keep" => "slow:1s"]);
ob_start(); phpinfo(INFO_MODULES); preg_match_all("/^Requests traced.*/m", ob_get_clean(), $m); echo implode(", ", $m[0]);
', ['strobe.mode' => 'off', 'strobe.instrument' => '1']);
echo $run->stdout, "\n";
check(count($run->runs()) === 1, count($run->runs()) . ' runs');

// A value that means nothing leaves all traces.
$run = profile('<?php strrev("x");', ['strobe.mode' => 'off', 'strobe.trace_rate' => '1', 'strobe.trace_keep' => 'quick']);
check(count($run->runs()) === 1, 'nothing is lost by a slip');
echo "done\n";
?>
--EXPECT--
traced Requests traced => 2, Requests traced and not kept => 1
done
