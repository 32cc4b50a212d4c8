--TEST--
Invalid settings in php.ini and on the command line cause one startup warning each, with the allowed values and a suggestion
--EXTENSIONS--
sockets
--FILE--
<?php
require __DIR__ . '/strobe.inc';

const SECRET = 'the secret';
const PERIOD = 'use 0.0001 to 3600 seconds';
const NODES = 'use 1024 to 67108864 nodes';
const COMPAT = 'use excimer, tideways_xhprof, xhprof or uprofiler';

/* The lines that PHP prints with these settings before "page". */
function told(array $ini, array $more = []): array
{
	$command = php_command($more + ['display_startup_errors' => '1'] + $ini, ['-r', 'echo "page\n";']);
	exec(implode(' ', array_map('escapeshellarg', $command)) . ' 2>&1', $out, $status);
	check($status === 0 && end($out) === 'page', 'PHP runs: ' . implode("\n", $out));
	return array_map(fn($line) => preg_replace('~^Warning: PHP Startup: (.*) in Unknown on line 0$~', '$1', $line), array_values(array_filter(array_slice($out, 0, -1))));
}

$wrong = [
	['strobe.mode', 'always', 'strobe.mode=always is ignored: unknown mode; use sample or off (did you mean sample?)'],
	['strobe.mode', '1', 'strobe.mode=1 is ignored: PHP reads on, yes and true as 1, which is invalid here; use sample or off (did you mean sample?)'],
	['strobe.mode', 'SAMPLE', 'strobe.mode=SAMPLE is ignored: unknown mode; use sample or off (did you mean sample?)'],
	['strobe.mode', 'xyz', 'strobe.mode=xyz is ignored: unknown mode; use sample or off'],
	['strobe.clock', 'cpus', 'strobe.clock=cpus is ignored: unknown clock; use wall or cpu (did you mean cpu?)'],
	['strobe.period', '100000', 'strobe.period=100000 is ignored: too large; ' . PERIOD . ' (did you mean 0.1?)'],
	['strobe.period', '10ms', 'strobe.period=10ms is ignored: not a number; ' . PERIOD . ' (did you mean 0.01?)'],
	['strobe.period', '100 Hz', 'strobe.period=100 Hz is ignored: not a number; ' . PERIOD . ' (did you mean 0.01?)'],
	['strobe.period', '0,01', 'strobe.period=0,01 is ignored: not a number; ' . PERIOD . ' (did you mean 0.01?)'],
	['strobe.period', '0', 'strobe.period=0 is ignored: too small; ' . PERIOD],
	['strobe.period', 'soon', 'strobe.period=soon is ignored: not a number; ' . PERIOD],
	['strobe.flush', '100ms', 'strobe.flush=100ms is ignored: not a number; use 0.01 to 3600 seconds (did you mean 0.1?)'],
	['strobe.flush', '0', 'strobe.flush=0 is ignored: too small; use 0.01 to 3600 seconds'],
	['strobe.trace_flush', '0.001', 'strobe.trace_flush=0.001 is ignored: too small; use 0.01 to 3600 seconds, or 0'],
	['strobe.trace_flush', 'no', 'strobe.trace_flush=no is ignored: not a number; use 0.01 to 3600 seconds, or 0'],
	['strobe.request_rate', '10%', 'strobe.request_rate=10% is ignored: not a number; use a share from 0 to 1 (did you mean 0.1?)'],
	['strobe.request_rate', '-1', 'strobe.request_rate=-1 is ignored: too small; use a share from 0 to 1'],
	['strobe.trace_rate', '1/1000', 'strobe.trace_rate=1/1000 is ignored: not a number; use a share from 0 to 1 (did you mean 0.001?)'],
	['strobe.max_depth', '100000', 'strobe.max_depth=100000 is ignored: too large; use 4 to 8192 frames (did you mean 8192?)'],
	['strobe.max_depth', '10.5', 'strobe.max_depth=10.5 is ignored: not a whole number; use 4 to 8192 frames (did you mean 10?)'],
	['strobe.trace_max_nodes', '1k', 'strobe.trace_max_nodes=1k is ignored: not a number; ' . NODES],
	['strobe.trace_chart_calls', '100', 'strobe.trace_chart_calls=100 is ignored: too small; use 1024 to 16777216 calls (did you mean 1024?)'],
	['strobe.trace_flame_chart', 'all', 'strobe.trace_flame_chart=all is ignored: unknown value; use 1 or 0'],
	['strobe.instrument', 'maybe', 'strobe.instrument=maybe is ignored: unknown value; use auto, 1 or 0'],
	['strobe.flush_waiting', 'yes', 'strobe.flush_waiting=yes is ignored: not a number; use 0.01 to 3600 seconds, or 0'],
	['strobe.lines', 'all', 'strobe.lines=all is ignored: unknown value; use 1 or 0'],
	['strobe.compat_builtins', 'maybe', 'strobe.compat_builtins=maybe is ignored: unknown value; use 1 or 0'],
	['strobe.compat', 'tideways', 'strobe.compat=tideways: there is no stand-in for tideways; ' . COMPAT . ' (did you mean tideways_xhprof?)'],
	['strobe.compat', 'xhprof,exzimer', 'strobe.compat=xhprof,exzimer: there is no stand-in for exzimer; ' . COMPAT . ' (did you mean excimer?)'],
	['strobe.labels', 'pool=a,b', 'strobe.labels=pool=a,b: "b" is ignored: it has no "="; use key=value,key=value in quotes'],
	['strobe.labels', '1a=b', 'strobe.labels=1a=b: "1a=b" is ignored: a key is 1 to 64 letters, digits and "_", and does not begin with a digit; use key=value,key=value in quotes'],
	['strobe.labels', $many = implode(',', array_map(fn($i) => "k$i=1", range(1, 33))),
		'strobe.labels=' . substr($many, 0, 80) . '...: "k33=1" is ignored: there are more than 32 labels; use key=value,key=value in quotes'],
	['strobe.socket', 'tcp://127.0.0.1:9', 'strobe.socket=tcp://127.0.0.1:9 reaches no daemon: not a path; use /path or unix:/path'],
	['strobe.socket', 'run/strobe.sock', 'strobe.socket=run/strobe.sock is relative to PHP\'s working directory; use /path or unix:/path'],
	['strobe.socket', $long = '/' . str_repeat('s', 107), 'strobe.socket=' . substr($long, 0, 80) . '... reaches no daemon: longer than 107 bytes, the limit of socket paths; use /path or unix:/path'],
	['strobe.trigger_secret', SECRET, 'strobe.trigger_secret is ignored: it has 10 bytes; use 16 to 256 bytes'],
	['strobe.mod', 'sample', 'strobe.mod is not a setting of strobe ' . Strobe\VERSION . ' (did you mean strobe.mode?); rename it'],
	['Strobe.Mode', 'sample', 'Strobe.Mode is not a setting of strobe ' . Strobe\VERSION . ' (did you mean strobe.mode?); rename it'],
	['strobe.sampling', 'on', 'strobe.sampling is not a setting of strobe ' . Strobe\VERSION . '; remove it'],
	['strobe.mode', "a\x1b[31m" . str_repeat('b', 100), 'strobe.mode=a?[31m' . str_repeat('b', 74) . '... is ignored: unknown mode; use sample or off'],
];
foreach ($wrong as [$name, $value, $sentence])
	check(($told = told([$name => $value])) === [$sentence], "$name=$value: " . json_encode($told));

check(told(['strobe.instrument' => '0', 'strobe.trace_rate' => '0.5', 'strobe.compat' => 'xhprof']) === [], 'what is switched off by name is no mistake');
check(count(told(['strobe.mode' => 'on', 'strobe.period' => '0', 'strobe.compat' => 'x'])) === 3, 'each is told');

// Valid settings, one by one (in full) and together with those of other names, print nothing.
$right = ['strobe.trace_keep' => ['', 'slow:500ms', 'status:5xx,failed'], 'strobe.mode' => ['sample', 'off', ''], 'strobe.clock' => ['wall', 'cpu'], 'strobe.period' => ['0.0001', '3600', '1e-2'], 'strobe.request_rate' => ['0', '1', '.5'],
	'strobe.max_depth' => ['4', '8192'], 'strobe.labels' => ['', 'a=b', ' pool = api , deploy=7,', 'empty='], 'strobe.socket' => ['', '/tmp/s', 'unix:/tmp/s'],
	'strobe.instrument' => ['auto', '1', '0', 'on', 'Off', 'no', ''], 'strobe.compat_builtins' => ['1', '0', 'yes', 'false'], 'strobe.lines' => ['1', '0', 'on', 'off'], 'strobe.flush_waiting' => ['0', '0.01', '3600'], 'strobe.flush' => ['0.01', '1', '3600'], 'strobe.trace_flush' => ['0', '0.01', '3600'], 'strobe.trace_rate' => ['0', '0.001'],
	'strobe.compat' => ['', 'excimer', 'Excimer, xhprof tideways_xhprof,uprofiler'], 'strobe.trigger_secret' => ['', str_repeat('s', 16), str_repeat('s', 256)], 'strobe.trace_max_nodes' => ['1024'],
	'strobe.trace_flame_chart' => ['0', '1', 'on'], 'strobe.trace_chart_calls' => ['1024', '16777216']];
check(array_keys($right) == array_intersect(array_keys($right), array_keys(ini_get_all('strobe'))) && count($right) === count(ini_get_all('strobe')), 'all settings are tried');
$tried = [];
foreach ($right as $name => $values)
	foreach ($values as $i => $value) {
		$tried["together $i"][$name] = $value;
		if (in_full())
			$tried["$name=$value"] = [$name => $value];
	}
foreach ($tried as $which => $settings)
	check(($told = told($settings)) === [], "$which: " . json_encode($told));

// Nothing is printed where PHP prints no startup errors; the log has it.
$receiver = new Receiver();
$log = "$receiver->directory/log";
check(told(['strobe.mode' => 'on', 'error_log' => $log, 'display_startup_errors' => '0', 'display_errors' => '0', 'log_errors' => '1'], ['display_startup_errors' => '0']) === [], 'nothing on the page');
check(substr_count(file_get_contents($log), 'PHP Warning:  PHP Startup: strobe.mode=on is ignored: ') === 1, 'the log: ' . file_get_contents($log));

// The labels and names that are right count; phpinfo() and status() say what does not.
$run = profile('<?php ' . BUSY . ' busy(0.05); echo json_encode(Strobe\status()["problems"]), extension_loaded("xhprof") ? " xhprof" : "", ini_set("strobe.mode", "on") === false ? " refused" : "",
	ini_set("strobe.labels", "a=b,c") === false ? " refused" : "", ini_set("strobe.labels", "a=b") === false ? "" : " taken", "\n"; (new ReflectionExtension("strobe"))->info();',
	['strobe.labels' => 'pool=a,b', 'strobe.compat' => 'xhprof,x', 'display_startup_errors' => '0', 'display_errors' => 'stderr']);
check($run->messages && $run->messages[0]['labels']['pool'] === 'a', 'the label is there');
check(str_contains($run->stdout, ' xhprof refused refused taken') && str_contains($run->stdout, '"strobe.compat=xhprof,x: there is no stand-in for x;'), "status: $run->stdout");
check(str_contains($run->stdout, 'Setting without effect => strobe.labels=pool=a,b: "b" is ignored: it has no "=";'), "phpinfo: $run->stdout");
check(!str_contains($run->stdout, 'strobe.mode=on'), 'a program that sets nonsense is told by the answer alone');

// A server starts once; this one has only a log.
file_put_contents("$receiver->directory/page.php", 'page');
unlink($log);
$probe = stream_socket_server('tcp://127.0.0.1:0');
$address = stream_socket_get_name($probe, false);
fclose($probe);
$process = proc_open(php_command(['strobe.mode' => 'on', 'display_startup_errors' => '1', 'log_errors' => '1'], ['-S', $address, '-t', $receiver->directory]),
	[['file', '/dev/null', 'r'], ['file', $log, 'a'], ['file', $log, 'a']], $pipes);
for ($i = 0; $i < 1000 && !@file_get_contents("http://$address/page.php"); $i++)
	usleep(50000);
for ($i = 0; $i < 5; $i++)
	check(file_get_contents("http://$address/page.php") === 'page', 'the page of the built-in server is the page');
proc_terminate($process);
proc_close($process);
check(substr_count(file_get_contents($log), 'strobe.mode=on is ignored') === 1, 'the built-in server tells it once: ' . file_get_contents($log));
echo "done\n";
?>
--EXPECT--
done
