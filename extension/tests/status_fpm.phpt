--TEST--
Strobe\status() in php-fpm: in the chroot of a pool, during opcache preloading, in a disabled pool
--EXTENSIONS--
sockets
--SKIPIF--
<?php
require __DIR__ . '/fpm.inc';
fpm_skip();
if (fileowner('/proc/self') !== 0) die('skip only root may enter a chroot');
?>
--FILE--
<?php
require __DIR__ . '/strobe.inc';
require __DIR__ . '/fpm.inc';

$receiver = new Receiver();
$d = $receiver->directory;
mkdir("$d/inside");
$page = '<?php $s = Strobe\status(); echo json_encode([$s["sampling"], $s["reason"], $s["message"]], JSON_UNESCAPED_SLASHES);';
file_put_contents("$d/inside/page.php", $page);
file_put_contents("$d/preload.php", "<?php file_put_contents('$d/preloaded', json_encode(Strobe\\status()));");
chmod($d, 0755);
$fpm = new Fpm($d, ['jail' => ["chroot = $d/inside"], 'free' => [], 'off' => ['php_admin_value[strobe.mode] = off']],
	['zend_extension' => 'opcache', 'opcache.preload' => "$d/preload.php", 'opcache.preload_user' => 'root', 'strobe.mode' => 'sample', 'strobe.socket' => $receiver->path]);
check(($preloaded = json_decode((string)@file_get_contents("$d/preloaded"), true)) && $preloaded['reason'] === 'preloading' && !$preloaded['sampling'], 'preloading: ' . json_encode($preloaded));
check(($s = $fpm->get('jail', '/page.php')) === "[true,\"chroot\",\"there is no $receiver->path, where this process looks for it inside a chroot; mount its directory there\"]", "chroot: $s");
check(($s = $fpm->get('free', "$d/inside/page.php")) === '[true,null,null]', "without: $s");
check(($s = $fpm->get('off', "$d/inside/page.php")) === '[false,"mode","strobe.mode is off"]', "off: $s");
$fpm->stop();
unlink("$d/inside/page.php");
rmdir("$d/inside");
foreach (glob("$d/*") as $file)
	if (filetype($file) !== 'file' && $file !== $receiver->path)
		unlink($file);
echo "done\n";
?>
--EXPECT--
done
