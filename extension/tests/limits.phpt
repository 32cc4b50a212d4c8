--TEST--
Without threads, descriptors or memory for the extension, the program runs unchanged
--EXTENSIONS--
sockets
--SKIPIF--
<?php
foreach (['prlimit', 'setpriv'] as $tool)
	if (!trim((string)shell_exec("command -v $tool")))
		die("skip $tool is not installed");
?>
--FILE--
<?php
require __DIR__ . '/strobe.inc';

$code = '<?php ' . DOZE . ' doze(1.2); echo "well\n"; (new ReflectionExtension("strobe"))->info();';
function limited(Receiver $receiver, array $prefix, string $code): array
{
	file_put_contents("$receiver->directory/l.php", $code);
	chmod($receiver->directory, 0755);
	// Readable for the other user.
	copy(extension_path(), "$receiver->directory/strobe.so");
	chmod("$receiver->directory/strobe.so", 0755);
	$ini = ['extension' => "$receiver->directory/strobe.so", 'strobe.mode' => 'sample', 'strobe.period' => '0.001',
		'strobe.socket' => $receiver->path];
	exec(implode(' ', array_map('escapeshellarg', [...$prefix, ...php_command($ini, ["$receiver->directory/l.php"])])) . ' 2>&1', $out, $status);
	return [$status, implode("\n", $out)];
}

if (trim((string)shell_exec('id -u')) === '0') {
	$user = ['setpriv', '--reuid=65534', '--clear-groups', 'prlimit', '--nproc=1:1'];
	[$status, $out] = limited(new Receiver(), $user, $code);
	check($status === 0 && str_contains($out, "well\n"), "no threads allowed: $status $out");
	check(str_contains($out, 'Requests not sampled: no thread => 1'), "and that is counted: $out");
}
// Descriptors that the test runner left open would count.
$closing = ['sh', '-c', 'exec 3>&- 4>&- 5>&- 6>&- 7>&- 8>&- 9>&-; exec "$@"', 'sh'];
[$status, $out] = limited(new Receiver(), [...$closing, 'prlimit', '--nofile=8:8'], '<?php $f = []; while ($x = @fopen("/dev/null", "r")) $f[] = $x; ' . substr($code, 5));
check($status === 0 && str_contains($out, "well\n"), "no descriptors left: $status $out");
check(preg_match('/Samples lost: no_memory => [1-9]/', $out) === 1, "and that is counted: $out");
[$status, $out] = limited(new Receiver(), ['prlimit', '--sigpending=0:0'], $code);
check($status === 0 && preg_match('/Samples taken => (\d+)/', $out, $m) && $m[1] > 900, "no signal may be queued, and none is needed: $out");
echo "done\n";
?>
--EXPECT--
done
