--TEST--
FrankenPHP workers: boot and each request are separate units, the time between them belongs to none; with and without the call observer
--EXTENSIONS--
sockets
--SKIPIF--
<?php if (!is_executable((string)getenv('STROBE_TEST_WORKER'))) die('skip the program of tests/php/worker.c is not there: tests/php/run builds it where PHP is a library'); ?>
--FILE--
<?php
require __DIR__ . '/strobe.inc';

const SECRET = 'a-secret-of-20-bytes';

/* Runs a worker's script with these requests; what it sends and prints. */
function work(string $code, array $requests, array $ini, int $threads = 1): Run
{
	$receiver = new Receiver();
	file_put_contents("$receiver->directory/worker.php", $code);
	file_put_contents("$receiver->directory/requests", implode("\n", $requests) . "\n");
	$all = ['extension' => extension_path(), 'strobe.socket' => $receiver->path, 'strobe.period' => '0.001', 'display_errors' => '0', 'log_errors' => '0', 'html_errors' => '0']
		+ json_decode(getenv('STROBE_TEST_INI') ?: '[]', true);
	$lines = [];
	foreach ($ini + $all as $name => $value)
		$lines[] = "$name=\"$value\"";
	$run = new Run();
	$process = proc_open([getenv('STROBE_TEST_WORKER'), (string)$threads, "$receiver->directory/worker.php", "$receiver->directory/requests", ...$lines],
		[['file', '/dev/null', 'r'], ['pipe', 'w'], ['pipe', 'w']], $pipes);
	stream_set_blocking($pipes[1], false);
	stream_set_blocking($pipes[2], false);
	for ($deadline = microtime(true) + 200; ($status = proc_get_status($process))['running'] && microtime(true) < $deadline; usleep(2000)) {
		$receiver->poll();
		$run->stdout .= stream_get_contents($pipes[1]);
		$run->stderr .= stream_get_contents($pipes[2]);
	}
	$receiver->poll();
	$run->stdout .= stream_get_contents($pipes[1]);
	$run->stderr .= stream_get_contents($pipes[2]);
	$run->status = $status['signaled'] ? 128 + $status['termsig'] : $status['exitcode'];
	$run->messages = $receiver->messages;
	return $run;
}

const WORKER = '<?php ' . BUSY . BUSY_TICKED . '
function boot() { busy_ticked(0.05); return strrev("x"); }
function handler() {
	parse_str((string)parse_url($_SERVER["REQUEST_URI"] ?? "", PHP_URL_QUERY), $q);
	handle($q);
}
function handle($q) {
	if (isset($q["route"])) Strobe\set_entry($q["route"]);
	if (isset($q["label"])) Strobe\add_label("label", $q["label"]);
	Strobe\set_attribute("n", $q["route"] ?? "");
	busy(0.03);
	http_response_code((int)($q["code"] ?? 200));
	if (isset($q["unit"])) $GLOBALS["unit"] = Strobe\Unit::begin("left_open", [], ["trace" => true]);
	echo Strobe\is_sampling() ? "s" : "-", Strobe\is_tracing() ? "t" : "-", isset(Strobe\labels()["label"]) ? "l" : "-", " ";
	if (isset($q["throw"])) throw new Exception("thrown");
	if (isset($q["exit"])) exit("bye");
}
function between() { busy(0.02); }
boot();
echo Strobe\is_sampling() ? "s" : "-", Strobe\is_tracing() ? "t" : "-", "boot ";
while (frankenphp_handle_request("handler")) between();
echo "end";
';
$requests = ['GET /a?route=one&label=x 300', 'POST /b?route=two 300', 'GET /c?route=three 300'];

// Sampled, without the observer: four pieces of work, each with the time that it took and no other.
$run = work(WORKER, $requests, ['strobe.mode' => 'sample', 'strobe.instrument' => '0']);
check($run->stdout === 's-boot s-l s-- s-- end' && $run->status === 0, "$run->status $run->stdout$run->stderr");
$sums = $labels = $functions = [];
foreach ($run->messages as $m) {
	$entry = $m['labels']['entry'];
	$sums[$entry] = ($sums[$entry] ?? 0) + array_sum(array_column($m['stacks'], 1));
	$labels[$entry] = ($m['labels']['method'] ?? '') . ($m['labels']['label'] ?? '');
	foreach ($m['stacks'] as [$path])
		foreach ($path as $f)
			$functions[$f][$entry] = true;
}
// Until its name is known a request has that of the script.
check(count($sums) === 4 && array_sum($sums) - ($sums['worker'] ?? 0) > 70, json_encode($sums));
check($labels === ['worker' => $labels['worker'], 'one' => 'GETx', 'two' => 'POST', 'three' => 'GET'], json_encode($labels));
check(isset($functions['boot']) && !isset($functions['between']), 'between requests nothing is sampled: ' . json_encode(array_keys($functions)));
check(array_sum($sums) < 500, 'waiting is no sample: ' . json_encode($sums));
check(array_keys($functions['boot']) === ['worker'], json_encode($functions['boot']));

// Traced: each is a run with its own URL, status and attributes.
$run = work(WORKER, [...$requests, 'GET /d?route=four&code=503 0'], ['strobe.mode' => 'off', 'strobe.trace_rate' => '1']);
check($run->stdout === '-tboot -tl -t- -t- -t- end' && $run->status === 0, "$run->status $run->stdout$run->stderr");
$runs = [];
foreach ($run->runs() as $m) {
	$runs[] = implode(' ', array_map(fn($k) => $m['labels'][$k] ?? '-', ['entry', 'method', 'url', 'http_status', 'n', 'label']));
	check((run_calls($m)['handle'] ?? 0) + (run_calls($m)['boot'] ?? 0) === 1 && !isset(run_calls($m)['between']), json_encode(run_calls($m)));
}
check($runs === ['worker GET /worker.php 200 - -', 'one GET /a?route=one&label=x 200 one x', 'two POST /b?route=two 200 two -', 'three GET /c?route=three 200 three -', 'four GET /d?route=four&code=503 503 four -'],
	implode("\n", $runs));

// By secret, and kept by what came of it; an exception, exit() and a unit that is left open end with their request.
$run = work(WORKER, ['GET /a?route=plain 0', 'GET /a?route=asked 0 ' . SECRET, 'GET /a?route=wrong 0 not-the-secret-at-all'], ['strobe.mode' => 'off', 'strobe.trigger_secret' => SECRET]);
check(array_column(array_column($run->runs(), 'labels'), 'source', 'entry') === ['asked' => 'trigger'], json_encode(array_column($run->runs(), 'labels')) . $run->stdout . $run->stderr);
$run = work(WORKER, ['GET /a?route=plain 0', 'GET /a?route=thrown&throw 0', 'GET /a?route=e404&code=404 0', 'GET /a?route=open&unit 0', 'GET /a?route=after 0', 'GET /a?route=exit&exit&code=404 0'],
	['strobe.mode' => 'sample', 'strobe.trace_rate' => '1', 'strobe.trace_keep' => 'failed,status:404']);
check(array_map(fn($l) => $l['entry'] . ($l['failed'] ?? '') . ($l['unfinished'] ?? ''), array_column($run->runs(), 'labels')) === ['thrown1', 'e404', 'left_open1', 'exit'], json_encode(array_column($run->runs(), 'labels')));
check(str_ends_with($run->stdout, 'stbye') || str_ends_with($run->stdout, 'st- bye'), $run->stdout . $run->stderr);

// A share of them, and a scope around the loop.
$run = work('<?php for ($i = 0; frankenphp_handle_request(function () { echo Strobe\is_sampling() ? "s" : "-"; usleep(1000); }); $i++);',
	array_fill(0, 400, 'GET / 0'), ['strobe.mode' => 'sample', 'strobe.request_rate' => '0.25']);
check(strlen($run->stdout) === 400 && abs(substr_count($run->stdout, 's') - 100) < 45, substr_count($run->stdout, 's') . ' of 400');
$run = work('<?php Strobe\with_labels(["x" => 1], function () { while (frankenphp_handle_request(fn() => print(json_encode(Strobe\labels()["x"] ?? null)))); });
	$u = Strobe\Unit::run("u", function () { echo " end"; });', ['GET / 0', 'GET / 0'], ['strobe.mode' => 'sample']);
check($run->stdout === 'nullnull end' && $run->status === 0, "$run->status $run->stdout$run->stderr");

// Threads, where PHP has them.
if (PHP_ZTS) {
	$run = work(WORKER, array_map(fn($i) => "GET /$i?route=r$i&label=x 1", range(1, 60)), ['strobe.mode' => 'sample', 'strobe.trace_rate' => '1'], 4);
	check($run->status === 0 && substr_count($run->stdout, 'stl') === 60 && substr_count($run->stdout, 'stboot') === 4, "$run->status $run->stdout$run->stderr");
	$entries = array_column(array_column($run->runs(), 'labels'), 'entry');
	check(count($entries) === 64 && count(array_unique($entries)) === 61, json_encode($entries));
	foreach ($run->runs() as $m)
		check($m['labels']['entry'] === 'worker' || $m['labels']['url'] === '/' . substr($m['labels']['entry'], 1) . "?route={$m['labels']['entry']}&label=x", json_encode($m['labels']));
}
echo "done\n";
?>
--EXPECT--
done
