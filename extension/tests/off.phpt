--TEST--
Without settings the extension is inactive: no thread, no descriptor, no message; with them, one thread and one descriptor
--EXTENSIONS--
sockets
--FILE--
<?php
require __DIR__ . '/strobe.inc';

$look = '<?php ' . DOZE . ' doze(1.3); echo count(scandir("/proc/self/task")) - 2, " threads, ", count(scandir("/proc/self/fd")) - 3, " descriptors ",
	implode(" ", array_diff(array_map(fn($t) => @trim(file_get_contents("/proc/self/task/$t/comm")), array_diff(scandir("/proc/self/task"), [".", ".."])), ["php"])), "\n";';
$none = profile($look, ['strobe.mode' => 'off', 'strobe.period' => '0.001']);
check(preg_match('/^1 threads, (\d+) descriptors /', $none->stdout, $m) === 1, "off: $none->stdout");
check(!$none->messages && !$none->connections, 'nothing is sent');
$some = profile($look);
check(str_starts_with($some->stdout, '2 threads, ' . ($m[1] + 1) . ' descriptors ') && str_contains($some->stdout, 'strobe-ticker'), "on: $some->stdout");
echo "done\n";
?>
--EXPECT--
done
