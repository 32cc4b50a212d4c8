--TEST--
Invalid settings in pools and .user.ini cause one line in the error log for all workers and requests, and none in pages
--EXTENSIONS--
sockets
--SKIPIF--
<?php require __DIR__ . '/fpm.inc'; fpm_skip(); ?>
--FILE--
<?php
require __DIR__ . '/strobe.inc';
require __DIR__ . '/fpm.inc';

$receiver = new Receiver();
$d = $receiver->directory;
mkdir("$d/site");
mkdir("$d/site/shop");
file_put_contents("$d/site/page.php", 'page');
file_put_contents("$d/site/status.php", '<?php echo json_encode(Strobe\status()["problems"]);');
file_put_contents("$d/site/info.php", '<?php (new ReflectionExtension("strobe"))->info();');
copy("$d/site/page.php", "$d/site/shop/page.php");
copy("$d/site/status.php", "$d/site/shop/status.php");
file_put_contents("$d/site/shop/.user.ini", "strobe.period = \"10ms\"\nstrobe.labels = \"a=b,<b>c\"\nstrobe.trigger_secret = \"my secret\"\nstrobe.trace_rate = 0.5\nstrobe.clock = cpu\n");
// The log of a pool is set behind the settings that it is told about.
$pool = fn($name, ...$lines) => ['php_admin_value[strobe.mode] = on', 'php_value[strobe.clock] = cpus', 'php_admin_value[strobe.max_depth] = 1', ...$lines];
$fpm = new Fpm($d, ['www' => $pool('www', "php_admin_value[error_log] = $d/www.log"), 'api' => $pool('api', "php_admin_value[error_log] = $d/api.log"),
	'nolog' => $pool('nolog'), 'good' => ['php_admin_value[strobe.mode] = sample', "php_admin_value[error_log] = $d/good.log"]],
	['strobe.socket' => $receiver->path, 'strobe.mod' => 'sample', 'display_errors' => '1', 'display_startup_errors' => '1', 'html_errors' => '1', 'log_errors' => '1', 'user_ini.cache_ttl' => '0'], 2);
$lines = fn($log) => array_map(fn($l) => preg_replace('~^\[[^]]*\] ~', '', $l), is_file("$d/$log.log") ? file("$d/$log.log", FILE_IGNORE_NEW_LINES) : []);

check(substr_count(file_get_contents("$d/fpm.out"), 'strobe.mod is not a setting') >= 1, 'what is wrong for all is told when FPM starts: ' . file_get_contents("$d/fpm.out"));
for ($i = 0; $i < 12; $i++)
	foreach (['www', 'api', 'good'] as $name)
		foreach (['', '/shop'] as $folder)
			check(($page = $fpm->get($name, "$d/site$folder/page.php", [], $stderr)) === 'page' && $stderr === '', "pool $name, $folder: $page $stderr");
$of_pool = fn($name) => ["PHP Warning:  strobe.mode=1 is ignored: PHP reads on, yes and true as 1, which is invalid here; use sample or off (did you mean sample?) (pool $name)",
	"PHP Warning:  strobe.clock=cpus is ignored: unknown clock; use wall or cpu (did you mean cpu?) (pool $name)",
	"PHP Warning:  strobe.max_depth=1 is ignored: too small; use 4 to 8192 frames (did you mean 4?) (pool $name)"];
$of_directory = ["PHP Warning:  strobe.period=10ms is ignored: not a number; use 0.0001 to 3600 seconds (did you mean 0.01?) (set for scripts in $d/site/shop/)",
	"PHP Warning:  strobe.labels=a=b,<b>c: \"<b>c\" is ignored: it has no \"=\"; use key=value,key=value in quotes (set for scripts in $d/site/shop/)",
	"PHP Warning:  strobe.trigger_secret is ignored: it has 9 bytes; use 16 to 256 bytes (set for scripts in $d/site/shop/)",
	"PHP Warning:  strobe.trace_rate has no effect: PHP was started without the call observer; set strobe.instrument=1 in php.ini (set for scripts in $d/site/shop/)"];
$all = array_merge($lines('www'), $lines('api'), $lines('good'));
sort($all);
$expected = array_merge($of_pool('www'), $of_pool('api'), $of_directory);
sort($expected);
check($all === $expected, 'each line once, in the log of the pool that met it first: ' . implode("\n", $all));
foreach ($lines('api') as $line)
	check(!str_contains($line, 'pool www'), "the log of api has its own pool only: $line");

// A pool without a log of its own: the web server's log.
$seen = '';
for ($i = 0; $i < 6; $i++) {
	check($fpm->get('nolog', "$d/site/page.php", [], $stderr) === 'page', 'the page of nolog');
	$seen .= $stderr;
}
foreach ($of_pool('nolog') as $line)
	check(substr_count($seen, $line) === 1, "once for the web server: $line: $seen");

// A value that the web server sets for a request, and another one.
for ($i = 0; $i < 4; $i++)
	check($fpm->get('good', "$d/site/page.php", ['PHP_VALUE' => 'strobe.request_rate=50'], $stderr) === 'page' && $stderr === '', 'with PHP_VALUE');
check(count(preg_grep('~strobe.request_rate=50 is ignored: too large; use a share from 0 to 1 \(did you mean 0.5\?\)~', $lines('good'))) === 1, 'PHP_VALUE is told once');
check($fpm->get('good', "$d/site/page.php", ['PHP_VALUE' => 'strobe.request_rate=60'], $stderr) === 'page', 'with another');
check(count(preg_grep('~strobe.request_rate=60 is ignored~', $lines('good'))) === 1, 'another value is told');

// A request is told the problems that concern it, and no others.
$told = json_decode($fpm->get('www', "$d/site/shop/status.php"));
check(count($told) === 8 && str_starts_with($told[0], 'strobe.mod is not') && str_starts_with($told[1], 'strobe.clock=cpus') && str_starts_with($told[4], 'strobe.period=10ms'), 'status: ' . json_encode($told));
check(count(json_decode($fpm->get('www', "$d/site/status.php"))) === 4, 'without the directory');
check(count(json_decode($fpm->get('good', "$d/site/status.php"))) === 1, 'without the pool');
check(str_contains($info = $fpm->get('www', "$d/site/info.php"), 'strobe.mode=1 is ignored'), 'phpinfo() is a page that wants it');

// Whoever changes a value with each request does not fill the disk.
for ($i = 0; $i < 1100; $i++)
	$fpm->get('good', "$d/site/page.php", ['PHP_VALUE' => "strobe.request_rate=2.$i"]);
$n = count($lines('good'));
check($n > 900 && $n < 1024, "$n lines");
$fpm->stop();
foreach ([...glob("$d/site/shop/{*,.user.ini}", GLOB_BRACE), ...glob("$d/site/*.php")] as $file)
	unlink($file);
rmdir("$d/site/shop");
rmdir("$d/site");
foreach (glob("$d/*") as $file)
	if (filetype($file) !== 'file' && $file !== $receiver->path)
		unlink($file);
echo "done\n";
?>
--EXPECT--
done
