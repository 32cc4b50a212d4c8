--TEST--
Internal functions are leaves: functions, methods, static methods, constructors; user functions keep their own samples
--EXTENSIONS--
sockets
--FILE--
<?php
require __DIR__ . '/strobe.inc';

// If the machine has no processor for long, that time belongs to whoever has lost it. That mostly happens at system calls, so
// there are none, and calls are shorter than a period: at the end of longer ones the ticking thread has to be woken.
$run = profile('<?php
$big = str_repeat("abcdefgh", 40000);
$numbers = range(1, 20000);
function hashing($s) { for ($i = 0; $i < 6000; $i++) hash("sha256", $s); }
function method($n) { $o = SplFixedArray::fromArray($n); for ($i = 0; $i < 2000; $i++) $o->toArray(); }
function statically() { for ($i = 0; $i < 100000; $i++) DateTimeImmutable::createFromFormat("Y-m-d H:i:s", "2026-11-21 07:30:00"); }
function constructor() { for ($i = 0; $i < 150000; $i++) new DateTime("2026-11-21 07:30:00"); }
function nested($s) { for ($i = 0; $i < 800; $i++) hash("md5", str_rot13(str_rot13(str_rot13(str_rot13($s))))); }
function pure() { for ($n = 0, $i = 0; $i < 20000000; $i++) $n ^= $i; return $n; }
hashing(substr($big, 0, 8000)); method($numbers); statically(); constructor(); nested(substr($big, 0, 40000)); pure();
');
check($run->status === 0, "the program runs: $run->stdout");
$leaves = fn(string $function, string $leaf): float => array_sum(array_filter($run->stacks(),
	fn($k) => str_ends_with($k, ";$function;$leaf"), ARRAY_FILTER_USE_KEY)) / max(1, $run->with($function));
check($leaves('hashing', 'hash') > 0.9, 'hash: ' . $leaves('hashing', 'hash'));
// The array that it returns is freed by the caller, which since PHP 8.5 is a third of the time.
check($leaves('method', 'SplFixedArray::toArray') > 0.5, 'method: ' . json_encode($run->stacks()));
check($leaves('statically', 'DateTimeImmutable::createFromFormat') > 0.6, 'static: ' . json_encode($run->stacks()));
check($leaves('constructor', 'DateTime::__construct') > 0.6, 'constructor: ' . json_encode($run->stacks()));
// The strings are freed by the caller.
check($leaves('nested', 'hash') > 0.03 && $leaves('nested', 'str_rot13') > 0.03 && $leaves('nested', 'hash') + $leaves('nested', 'str_rot13') > 0.8, 'nested: ' . json_encode($run->stacks()));
check($run->with('pure') > 10 && $run->with('pure', leaf: true) > 0.95 * $run->with('pure'), 'a loop without calls is itself the leaf');

$run = profile('<?php function sleeping() { usleep(200000); } $t = hrtime(true); sleeping(); echo (hrtime(true) - $t) / 1e6;');
check($run->with('usleep', leaf: true) > 0.9 * $run->with('sleeping'), 'usleep: ' . json_encode($run->stacks()));
$slept = $run->with('usleep', leaf: true);
check($slept >= 190 && $slept <= $run->stdout + 2, "$run->stdout ms of sleep are $slept samples of 1 ms");
echo "done\n";
?>
--EXPECT--
done
