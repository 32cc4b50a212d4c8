--TEST--
Internal functions are leaves: functions, methods, static methods, constructors; user code stays itself
--EXTENSIONS--
sockets
--FILE--
<?php
require __DIR__ . '/strobe.inc';

$run = profile('<?php
$big = str_repeat("abcdefgh", 40000);
$numbers = range(1, 20000);
function hashing($s) { for ($end = microtime(true) + 0.2; microtime(true) < $end;) for ($i = 0; $i < 5; $i++) hash("sha256", $s); }
function method($n) { $o = SplFixedArray::fromArray($n); for ($end = microtime(true) + 0.2; microtime(true) < $end;) for ($i = 0; $i < 20; $i++) $o->toArray(); }
function statically() { for ($end = microtime(true) + 0.2; microtime(true) < $end;) for ($i = 0; $i < 500; $i++) DateTimeImmutable::createFromFormat("Y-m-d H:i:s", "2026-11-21 07:30:00"); }
function constructor() { for ($end = microtime(true) + 0.2; microtime(true) < $end;) for ($i = 0; $i < 500; $i++) new DateTime("2026-11-21 07:30:00"); }
function nested($s) { for ($end = microtime(true) + 0.2; microtime(true) < $end;) for ($i = 0; $i < 5; $i++) hash("md5", str_rot13(str_rot13(str_rot13(str_rot13($s))))); }
function pure() { for ($n = 0, $i = 0; $i < 20000000; $i++) $n ^= $i; return $n; }
function sleeping() { usleep(200000); }
hashing($big); method($numbers); statically(); constructor(); nested($big); pure(); sleeping();
');
check($run->status === 0, "the program runs: $run->stdout");
$leaves = fn(string $function, string $leaf): float => array_sum(array_filter($run->stacks(),
	fn($k) => str_ends_with($k, ";$function;$leaf"), ARRAY_FILTER_USE_KEY)) / max(1, $run->with($function));
check($leaves('hashing', 'hash') > 0.9, 'hash: ' . $leaves('hashing', 'hash'));
// The array that it returns is freed by the caller, which since PHP 8.5 is a third of the time.
check($leaves('method', 'SplFixedArray::toArray') > 0.5, 'method: ' . json_encode($run->stacks()));
check($leaves('statically', 'DateTimeImmutable::createFromFormat') > 0.6, 'static: ' . json_encode($run->stacks()));
check($leaves('constructor', 'DateTime::__construct') > 0.6, 'constructor: ' . json_encode($run->stacks()));
check($leaves('nested', 'hash') > 0.03 && $leaves('nested', 'str_rot13') > 0.03 && $leaves('nested', 'hash') + $leaves('nested', 'str_rot13') > 0.8, 'nested: ' . json_encode($run->stacks()));
check($leaves('sleeping', 'usleep') > 0.9, 'usleep: ' . json_encode($run->stacks()));
$slept = $run->with('usleep', leaf: true);
check($slept >= 190 && $slept < 400, "200 ms of sleep are $slept samples of 1 ms");
check($run->with('pure') > 10 && $run->with('pure', leaf: true) > 0.95 * $run->with('pure'), 'a loop without calls is itself the leaf');
echo "done\n";
?>
--EXPECT--
done
