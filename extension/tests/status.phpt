--TEST--
phpinfo() and Strobe\status() give the reason why a request is not sampled or its samples do not arrive
--EXTENSIONS--
sockets
--FILE--
<?php
require __DIR__ . '/server.inc';

/* A program that mostly sleeps, in steps so short that it comes to a safe point in each period. */
const LONG = 'function long(float $seconds) { for ($end = microtime(true) + $seconds; microtime(true) < $end;) usleep(500); }';

const SAY = ' $s = Strobe\status(); echo json_encode([$s["sampling"], $s["reason"], $s["message"]], JSON_UNESCAPED_SLASHES), "\n"; (new ReflectionExtension("strobe"))->info();';

/* The messages that the program at `$code` gets, and its row in phpinfo(). */
function told(array $ini, string $code = '', ?Receiver $receiver = null, string $row = ''): array
{
	$run = profile('<?php ' . LONG . $code . SAY, $ini, [], $receiver);
	preg_match('~^(\[.*\])$~m', $run->stdout, $m);
	preg_match('~^This request is sampled => (.*)$~m', $run->stdout, $line);
	return [...json_decode($m[1] ?? '[]'), $line[1] ?? $run->stdout . $run->stderr];
}

function same(array $found, array $expected): void
{
	check($found === $expected, json_encode($found, JSON_UNESCAPED_SLASHES) . ' is not ' . json_encode($expected, JSON_UNESCAPED_SLASHES));
}

/* `$sampled` and a reason make the row. */
function expect(array $found, bool $sampled, ?string $reason, ?string $message, string $between = ': '): void
{
	same($found, [$sampled, $reason, $message, ($sampled ? 'yes' : 'no') . ($message ? $between . $message : '')]);
}

const LOST = ', but its samples are lost: ';

// Not sampled.
expect(told(['strobe.mode' => 'off']), false, 'mode', 'strobe.mode is off');
expect(told(['strobe.mode' => 'off'], ' ini_set("strobe.mode", "sample");'), false, 'mode', 'strobe.mode was off when this request began');
expect(told(['strobe.mode' => 'off', 'strobe.socket' => '/nonexistent']), false, 'mode', 'strobe.mode is off');
expect(told(['strobe.request_rate' => '0']), false, 'rate', 'strobe.request_rate=0 did not select it');
expect(told(['strobe.request_rate' => '0.0000001']), false, 'rate', 'strobe.request_rate=1.0e-7 did not select it');

// The observer, and the setting that would register it.
foreach ([['auto', [], 'not registered: strobe.instrument is auto, and no other setting needs it'], ['0', [], 'not registered: strobe.instrument is off'],
	  ['1', [], 'registered'], ['auto', ['strobe.trace_rate' => '0.5'], 'registered']] as [$instrument, $more, $text]) {
	$run = profile('<?php (new ReflectionExtension("strobe"))->info();', ['strobe.instrument' => $instrument, ...$more]);
	check(str_contains($run->stdout, "Call observer => $text\n"), "instrument=$instrument: $run->stdout");
}

// Sampled, and the samples do not arrive.
$away = new Receiver(listen: false);
expect(told([], '', $away), true, 'no_daemon', "there is no socket $away->path; start the daemon, or set strobe.socket to its socket", LOST);
expect(told([], ' long(1.2);', $away), true, 'no_daemon', "there is no socket $away->path; start the daemon, or set strobe.socket to its socket", LOST);
expect(told(['strobe.socket' => __DIR__]), true, 'no_daemon', __DIR__ . ' is not a socket', LOST);
expect(told(['strobe.socket' => '/' . str_repeat('s', 107), 'display_startup_errors' => '0']), true, 'socket_path', 'the path of the socket is longer than 107 bytes', LOST);

// A socket that nobody listens on any more looks like one until it is tried.
$dead = new Receiver();
(function () { socket_close($this->listener); $this->listener = null; })->call($dead);
expect(told([], ' long(0.05);', $dead), true, null, null);
expect(told([], ' long(1.2);', $dead), true, 'no_daemon', "no daemon listened on $dead->path at the last attempt", LOST);

// One that appears after the last attempt is no reason any more.
$late = new Receiver(listen: false);
expect(told([], ' long(1.2); $l = stream_socket_server("unix://" . ini_get("strobe.socket"));', $late), true, null, null);

// Samples arrive; then the daemon goes away.
expect(told([], ' long(1.2);', new Receiver()), true, null, null);
$run = profile('<?php ' . LONG . ' long(1.2); $before = Strobe\status(); unlink(ini_get("strobe.socket")); file_put_contents($argv[1], "x"); usleep(300000); $after = Strobe\status();
	echo json_encode([$before["connected"], $before["reason"], $after["connected"], $after["reason"]]);', [], [($there = new Receiver())->directory . '/told'], $there, function ($receiver) {
	if (is_file("$receiver->directory/told"))
		(function () { foreach ($this->connections as $c) socket_close($c); $this->connections = []; })->call($receiver);
});
check($run->stdout === '[true,null,false,"no_daemon"]', "the daemon goes: $run->stdout $run->stderr");

// The period.
[$sampling, $reason, $message, $row] = told(['strobe.period' => '3600']);
check($sampling && $reason === 'period' && preg_match('~^yes, without a sample yet: strobe\.period=3600 seconds is longer than it has run yet, 0\.\d{3} seconds$~', $row), "$reason $row");

// Another user.
if (trim((string)shell_exec('id -u')) === '0' && trim((string)shell_exec('command -v setpriv'))) {
	$receiver = new Receiver();
	chmod($receiver->directory, 0755);
	copy(extension_path(), "$receiver->directory/strobe.so");
	chmod("$receiver->directory/strobe.so", 0755);
	$ini = ['extension' => "$receiver->directory/strobe.so", 'under' => ['setpriv', '--reuid=65534', '--clear-groups']];
	chmod($receiver->path, 0600);
	$refused = "permission to write to $receiver->path is denied; add the user of this process to the group strobe and restart it";
	expect(told($ini, '', $receiver), true, 'refused', $refused, LOST);
	mkdir("$receiver->directory/closed", 0700);
	rename($receiver->path, "$receiver->directory/closed/s");
	$path = "$receiver->directory/closed/s";
	expect(told($ini + ['strobe.socket' => $path], '', $receiver), true, 'refused', str_replace($receiver->path, $path, $refused), LOST);
	unlink($path);
	rmdir("$receiver->directory/closed");
}

// The keys, and a request that has ended.
$run = profile('<?php class Late { function __destruct() { echo json_encode(Strobe\status()["sampling"]); } } $l = new Late(); echo json_encode(Strobe\status(), JSON_UNESCAPED_SLASHES), "\n";', ['strobe.mode' => 'off', 'strobe.socket' => '/nonexistent/s']);
check($run->stdout === '{"sampling":false,"reason":"mode","message":"strobe.mode is off","tracing":false,"can_trace":false,"socket":"/nonexistent/s","connected":false,"problems":[]}' . "\nfalse", $run->stdout);

/* Losses are told even where no samples come behind them. */
$receiver = new Receiver(listen: false);
file_put_contents("$receiver->directory/busy.php", '<?php ' . BUSY . ' busy(0.3);');
file_put_contents("$receiver->directory/short.php", '<?php echo json_encode(Strobe\status());');
$server = new Server($receiver, ['strobe.mode' => 'sample', 'strobe.period' => '0.05']);
$server->get('/busy.php');
$receiver->listen();
for ($i = 0; $i < 20; $i++) {
	$server->get('/short.php');
	$server->settle();
}
$drops = array_column($receiver->messages, 'drops');
$m = $receiver->messages[0] ?? null;
check(count(array_filter($drops)) === 1 && $m && !$m['nodes'] && $m['drops'][1] >= 3 && $m['labels']['sapi'] === 'cli-server' && $m['columns'] === [['samples', 'count']], 'one message tells: ' . json_encode($drops));
check(count($receiver->messages) < 5, count($receiver->messages) . ' messages');
$server->stop();
echo "done\n";
?>
--EXPECT--
done
