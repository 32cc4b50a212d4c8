--TEST--
uprofiler's sampling mode: one sample each tenth of a second, at the time given by its key
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
$start = [microtime(true)];
var_dump(uprofiler_sample_enable(), @uprofiler_sample_enable());
$start[] = microtime(true);
$lines = __LINE__ . '-' . __LINE__; (function () { nap(); })();
eval('spin(0.4);');
$end = [microtime(true)];
$r = uprofiler_disable();
$end[] = microtime(true);

/* The tenths of seconds behind one time, up to another. */
function tenths(float $from, float $to): array
{
	$keys = [];
	for ($tenth = (int)($from * 10) + 1; $tenth <= (int)($to * 10); $tenth++)
		$keys[] = sprintf('%d.%d00000', $tenth / 10, $tenth % 10);
	return $keys;
}

/* It began and ended somewhere within these calls. */
$keys = array_keys($r);
if (array_diff(tenths($start[1], $end[0]), $keys) || $keys !== array_values(array_intersect(tenths($start[0], $end[1]), $keys)))
	echo json_encode([$start, $end, $keys]), "\n";

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
