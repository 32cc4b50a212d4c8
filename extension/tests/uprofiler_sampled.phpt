--TEST--
uprofiler's sampling mode: a sample each tenth of a second, at the time that its key says
--INI--
strobe.compat=uprofiler
strobe.instrument=0
--FILE--
<?php
function spin($seconds) { for ($end = microtime(true) + $seconds; microtime(true) < $end;); }
function nap() { usleep(450000); }

var_dump(uprofiler_sample_disable());
// Not just before a tenth of a second.
usleep(120000 - (int)(fmod(microtime(true), 0.1) * 1e6));
$start = microtime(true);
var_dump(uprofiler_sample_enable(), @uprofiler_sample_enable());
$lines = __LINE__ . '-' . __LINE__; (function () { nap(); })();
eval('spin(0.4);');
$end = microtime(true);
$r = uprofiler_disable();

$expected = [];
for ($tenth = (int)($start * 10) + 1; $tenth <= (int)($end * 10); $tenth++)
	$expected[] = sprintf('%d.%d00000', $tenth / 10, $tenth % 10);
if (array_keys($r) !== $expected)
	echo "$start to $end: ", json_encode(array_keys($r)), "\n";
$closure = preg_grep('~^main\(\)==>\{closure\}::[^/]+/uprofiler_sampled.php/' . $lines . '==>nap==>usleep$~', $r);
$eval = preg_grep("~^main\\(\\)==>run_init::[^/]+/uprofiler_sampled.php\\(\\d+\\) : eval\\(\\)'d code==>spin(==>microtime)?$~", $r);
if (count($closure) < 4 || count($eval) < 3)
	var_dump($r);
echo json_encode(error_get_last()['message'] ?? null), "\n";
?>
--EXPECT--
NULL
bool(true)
bool(false)
"uprofiler is already enabled"
