--TEST--
An address that PHP uses again never gives a sample to the wrong function
--EXTENSIONS--
sockets
--FILE--
<?php
require __DIR__ . '/strobe.inc';

/* Without opcache, PHP frees the code of an included file when it is done, and that of eval and closures too: the next
 * one is likely to get the same address. Every file here runs as long as the others and says how long it ran. */
$receiver = new Receiver();
for ($i = 0; $i < 40; $i++)
	file_put_contents("$receiver->directory/part$i.php", '<?php $t = microtime(true); for ($k = 0; microtime(true) - $t < 0.012; $k++); $times["part' . $i . '"] = 1;');
$run = profile('<?php
$times = [];
for ($i = 0; $i < 40; $i++)
	include __DIR__ . "/part$i.php";
for ($i = 0; $i < 40; $i++)
	eval("function eval$i() { \$t = microtime(true); while (microtime(true) - \$t < 0.012); } eval$i();");
for ($i = 0; $i < 10; $i++) {
	$f = eval("return function () { \$t = microtime(true); while (microtime(true) - \$t < 0.012); };" . str_repeat("\n", $i));
	$f();
	unset($f);
}
', [], [], $receiver);
check($run->status === 0, "the program runs: $run->stdout");
$counts = [];
for ($i = 0; $i < 40; $i++)
	array_push($counts, $run->with("$receiver->directory/part$i.php"), $run->with("eval$i"));
check(min($counts) >= 3, 'every one of 80 got samples: ' . implode(' ', $counts));
check(max($counts) <= 60, 'none got those of others: ' . implode(' ', $counts));
foreach (array_keys($run->stacks()) as $stack)
	check(!preg_match('~part\d+\.php;.*part\d+\.php|eval\d+;.*eval\d+~', $stack), "impossible stack $stack");
echo "done\n";
?>
--EXPECT--
done
