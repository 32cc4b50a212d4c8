--TEST--
Memory of a call tree is kept for the next one, up to a limit, and freed when no request has been traced for a while
--EXTENSIONS--
sockets
--SKIPIF--
<?php
if (!is_readable('/proc/self/smaps')) die('skip there is no /proc');
if (getenv('STROBE_TEST_UNDER') || getenv('USE_ZEND_ALLOC') === '0') die('skip memory of another tool is counted too');
?>
--FILE--
<?php
require __DIR__ . '/server.inc';

$receiver = new Receiver();
$directory = $receiver->directory;
file_put_contents("$directory/page.php", '<?php
function f() {}
/* A tree of some 40,000 nodes: 5 MB. */
function tree($depth) { f(); if ($depth) foreach (["a", "b", "c", "d", "e", "g"] as $name) $name($depth - 1); }
function a($d) { tree($d); } function b($d) { tree($d); } function c($d) { tree($d); }
function d($d) { tree($d); } function e($d) { tree($d); } function g($d) { tree($d); }
if (isset($_GET["trace"])) {
	$t = Strobe\Trace::start(Strobe\WALL);
	tree(5);
	$t->stop();
}
unset($t);
/* Without the heap, of which the C library keeps what it likes. */
$kb = 0;
foreach (preg_split("~^(?=[0-9a-f]+-[0-9a-f]+ )~m", file_get_contents("/proc/self/smaps")) as $mapping)
	if (!str_contains($mapping, "[heap]") && preg_match("~^Anonymous:\s+(\d+)~m", $mapping, $m))
		$kb += $m[1];
echo $kb;
');
$server = new Server($receiver, ['strobe.mode' => 'off', 'strobe.instrument' => '1']);
$server->get('/page.php');
$ask = fn($query = '') => (int)$server->get("/page.php$query");

$before = $ask();
for ($i = 0; $i < 12; $i++)
	$traced[] = $ask('?trace');
$after = $ask();
check($after - $before > 3000, "kB that are kept: $before, $after");
check($traced[11] - $traced[3] < 1000, 'no more with each trace: ' . json_encode($traced));
for ($i = 0; $i < 98; $i++)
	$still = $ask();
check($after - $still < 500, "not after 99 requests: $after, $still");
for ($i = 0; $i < 3; $i++)
	$idle = $ask();
check($after - $idle > 2500, "but after a hundred: $after, $idle");
$server->stop();
echo "done\n";
?>
--EXPECT--
done
