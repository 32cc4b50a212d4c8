--TEST--
Strobe\add_label and Strobe\labels: keys, values, limits, reserved keys; each request starts without labels
--EXTENSIONS--
sockets
--FILE--
<?php
require __DIR__ . '/server.inc';

$run = profile('<?php
function thrown(callable $f): string
{
	try {
		$f();
	} catch (Throwable $e) {
		return get_class($e) . ": " . $e->getMessage();
	}
	return "nothing";
}
Strobe\add_label("tenant", "blue");
Strobe\add_label("tenant", "green");
Strobe\add_label("pool", "mine");
Strobe\add_label("entry", "route_x");
Strobe\add_label("long", str_repeat("v", 300));
Strobe\add_label("control", "a\nb\0c");
Strobe\add_label(str_repeat("k", 64), "");
echo json_encode(Strobe\labels()), "\n";
foreach (["", "1a", "a-b", "a b", "ä", str_repeat("k", 65), "source", "id", "url", "name", "host", "sapi"] as $key)
	echo thrown(fn() => Strobe\add_label($key, "x")), "\n";
for ($i = 0; $i < 24; $i++)
	Strobe\add_label("l$i", "x");
echo thrown(fn() => Strobe\add_label("one_more", "x")), "\n";
Strobe\add_label("l0", "still");
echo count(Strobe\labels()), Strobe\labels()["l0"], "\n";
', ['strobe.mode' => 'off', 'strobe.labels' => 'pool=api']);
echo str_replace([gethostname(), str_repeat('v', 255), str_repeat('k', 64)], ['HOST', 'V255', 'K64'], $run->stdout);

// With an embedded server: labels end with their request.
$receiver = new Receiver();
file_put_contents("$receiver->directory/page.php", '<?php if (isset($_GET["set"])) Strobe\add_label("set", $_GET["set"]); echo json_encode(Strobe\labels());');
$server = new Server($receiver, ['strobe.mode' => 'off', 'strobe.trace_rate' => '1']);
$server->get('/page.php');
$with = json_decode($server->get('/page.php?set=1'), true);
$without = json_decode($server->get('/page.php'), true);
$server->settle();
$server->stop();
check($with['set'] === '1' && !isset($without['set']), json_encode([$with, $without]));
check(($receiver->messages[count($receiver->messages) - 2]['labels']['set'] ?? 0) === '1' && !isset(end($receiver->messages)['labels']['set']), 'so do those of runs');
echo "done\n";
?>
--EXPECT--
{"pool":"mine","entry":"route_x","sapi":"cli","host":"HOST","tenant":"green","long":"V255","control":"a?b?c","K64":""}
ValueError: Strobe\add_label(): Argument #1 ($key) must be 1 to 64 letters, digits and "_", and not begin with a digit
ValueError: Strobe\add_label(): Argument #1 ($key) must be 1 to 64 letters, digits and "_", and not begin with a digit
ValueError: Strobe\add_label(): Argument #1 ($key) must be 1 to 64 letters, digits and "_", and not begin with a digit
ValueError: Strobe\add_label(): Argument #1 ($key) must be 1 to 64 letters, digits and "_", and not begin with a digit
ValueError: Strobe\add_label(): Argument #1 ($key) must be 1 to 64 letters, digits and "_", and not begin with a digit
ValueError: Strobe\add_label(): Argument #1 ($key) must be 1 to 64 letters, digits and "_", and not begin with a digit
ValueError: Strobe\add_label(): Argument #1 ($key) must not be "source", which strobe sets itself
ValueError: Strobe\add_label(): Argument #1 ($key) must not be "id", which strobe sets itself
ValueError: Strobe\add_label(): Argument #1 ($key) must not be "url", which strobe sets itself
ValueError: Strobe\add_label(): Argument #1 ($key) must not be "name", which strobe sets itself
ValueError: Strobe\add_label(): Argument #1 ($key) must not be "host", which strobe sets itself
ValueError: Strobe\add_label(): Argument #1 ($key) must not be "sapi", which strobe sets itself
Strobe\Exception: The limit of 32 labels is reached
32still
done
