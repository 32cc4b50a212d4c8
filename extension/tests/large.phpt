--TEST--
A message above 128 KB arrives in a sealed memfd
--EXTENSIONS--
sockets
--INI--
memory_limit=-1
--FILE--
<?php
require __DIR__ . '/strobe.inc';

/* A stack of 400 functions whose names have 1,000 bytes. */
$run = profile('<?php ' . BUSY . '
for ($i = 0; $i < 400; $i++) {
	$name = fn($i) => "f{$i}_" . str_repeat(chr(97 + $i % 26), 1000);
	eval("function {$name($i)}() { " . ($i ? "{$name($i - 1)}();" : "busy(0.3);") . " }");
}
$name(399)();
', ['strobe.max_depth' => '600']);
check($run->status === 0, "the program runs: $run->stdout");
$sizes = array_column($run->messages, 'size');
check(max($sizes) > 400000, 'sizes: ' . implode(' ', $sizes));
check($run->with('f0_' . str_repeat('a', 1000)) >= 250, 'the stack is there');
$depths = array_map(fn($k) => substr_count($k, ';'), array_keys($run->stacks()));
check(max($depths) >= 401, 'in full depth: ' . max($depths));

/* A name longer than a message may carry is cut, not lost. */
$run = profile('<?php ' . BUSY . ' eval("function " . str_repeat("n", 100000) . "() { busy(0.2); }"); str_repeat("n", 100000)();');
check($run->with(str_repeat('n', 65536)) >= 150, 'a name of 100,000 bytes');
echo "done\n";
?>
--EXPECT--
done
