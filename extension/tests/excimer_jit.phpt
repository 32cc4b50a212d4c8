--TEST--
excimer: with the JIT, timers and profilers warn once that they cannot work; with the call observer profilers work
--INI--
strobe.compat=excimer
--EXTENSIONS--
sockets
--SKIPIF--
<?php
if (!is_file(ini_get('extension_dir') . '/opcache.so') && PHP_VERSION_ID < 80500) die('skip there is no opcache');
?>
--FILE--
<?php
require __DIR__ . '/strobe.inc';

function told(string $code, array $ini): array
{
	$run = profile('<?php
set_error_handler(function ($type, $text) { $GLOBALS["said"][] = $text; return true; });
function burn($s) { for ($end = microtime(true) + $s; microtime(true) < $end;) for ($i = 0; $i < 50; $i++); }
$said = []; $seen = null;
' . $code . '
echo json_encode([$said, $seen]);', $ini + ['strobe.mode' => 'off', 'strobe.compat' => 'excimer', 'strobe.instrument' => '0', 'opcache.enable_cli' => '1',
		'opcache.jit_buffer_size' => '16M', 'opcache.jit' => 'tracing'] + (PHP_VERSION_ID < 80500 ? ['zend_extension' => 'opcache'] : []));
	check($run->status === 0 && $run->stderr === '', "the program runs: $run->stdout$run->stderr");
	return json_decode($run->stdout, true);
}

$timers = 'for ($i = 0; $i < 3; $i++) { $t[$i] = new ExcimerTimer; $t[$i]->setInterval(0.01); $t[$i]->setCallback(function () { $GLOBALS["seen"] = true; }); $t[$i]->start(); } burn(0.1);';
[$said, $seen] = told($timers, []);
check(count($said) === 1 && str_contains($said[0], 'opcache.jit') && $seen === null, 'timers: ' . json_encode([$said, $seen]));
[$said, $seen] = told($timers, ['strobe.instrument' => '1']);
check(count($said) === 1 && str_contains($said[0], 'opcache.jit') && $seen === null, 'timers, observer: ' . json_encode([$said, $seen]));
/* On a busy machine the ticking thread may get no processor for longer than that. */
[$said, $seen] = told($timers . ' for ($n = 0; !$seen && $n < 300; $n++) burn(0.1);', ['opcache.jit' => 'disable']);
check($said === [] && $seen === true, 'timers, no JIT: ' . json_encode([$said, $seen]));

$profiler = '$p = new ExcimerProfiler; $p->setPeriod(0.001); $p->start(); burn(0.1); $p->stop(); $p->start(); $p->stop(); $seen = $p->flush()->formatCollapsed();';
[$said, $seen] = told($profiler, []);
check(count($said) === 1 && str_contains($said[0], 'strobe.instrument=1') && $seen === '', 'profiler: ' . json_encode([$said, $seen]));
[$said, $seen] = told($profiler, ['strobe.instrument' => '1']);
check($said === [] && str_contains($seen, ';burn'), 'profiler, observer: ' . json_encode([$said, $seen]));

/* A full log cannot be handed over in the middle of compiled code: it grows until the program asks. */
$full = '$p = new ExcimerProfiler; $p->setPeriod(0.001); $p->setFlushCallback(function ($log) { $GLOBALS["seen"][] = $log->getEventCount(); }, 10); $p->start();
burn(0.1); $before = $seen; $p->stop(); unset($p); $seen = [$before, array_sum($seen)];';
[$said, $seen] = told($full, ['strobe.instrument' => '1']);
check(count($said) === 1 && str_contains($said[0], 'flush callback') && $seen[0] === null && $seen[1] >= 50, 'flush: ' . json_encode([$said, $seen]));
echo "done\n";
?>
--EXPECT--
done
