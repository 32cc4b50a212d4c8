--TEST--
Reused addresses never attribute a sample to the wrong function
--EXTENSIONS--
sockets
--FILE--
<?php
require __DIR__ . '/strobe.inc';

/* Without opcache, PHP frees the code of an included file when it is done, and that of eval and closures too: the next
 * one is likely to get the same address. Every file here runs as long as the others and says how long it ran. */
$receiver = new Receiver();
for ($i = 0; $i < 40; $i++)
	file_put_contents("$receiver->directory/part$i.php", '<?php $t = microtime(true); while (($times["part' . $i . '"] = microtime(true) - $t) < 0.03) usleep(700);');
$run = profile('<?php
$times = [];
for ($i = 0; $i < 40; $i++)
	include __DIR__ . "/part$i.php";
for ($i = 0; $i < 40; $i++)
	eval("function eval$i() { \$t = microtime(true); while ((\$d = microtime(true) - \$t) < 0.03) usleep(700); return \$d; } \$times[\"eval$i\"] = eval$i();");
for ($i = 0; $i < 10; $i++) {
	$f = eval("return function () { \$t = microtime(true); while (microtime(true) - \$t < 0.03) usleep(700); };" . str_repeat("\n", $i));
	$f();
	unset($f);
}
echo json_encode($times);
', [], [], $receiver);
check($run->status === 0, "the program runs: $run->stdout");
/* The time of each by its own clock, and its number of 1 ms samples: samples given to others show twice. */
$wrong = 0;
$all = [];
foreach (json_decode($run->stdout, true) as $name => $seconds) {
	$samples = $run->with(str_starts_with($name, 'part') ? "$receiver->directory/$name.php" : $name);
	$wrong += abs($samples - $seconds * 1000);
	$all[] = sprintf('%s %.0f ms %d', $name, $seconds * 1000, $samples);
}
check(count($all) === 80, 'all of them ran');
check($wrong < 0.5 * $run->samples(), "$wrong of {$run->samples()} samples are with another: " . implode(', ', $all));
foreach (array_keys($run->stacks()) as $stack)
	check(!preg_match('~part\d+\.php;.*part\d+\.php|eval\d+;.*eval\d+~', $stack), "impossible stack $stack");
echo "done\n";
?>
--EXPECT--
done
