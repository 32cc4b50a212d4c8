--TEST--
Closures have the class they were written in, even when bound, and closures on one line are distinct, in samples and traces
--EXTENSIONS--
sockets
--FILE--
<?php
require __DIR__ . '/strobe.inc';

$receiver = new Receiver();
$program = '<?php namespace App {
use function doze;
trait Talks { function talk() { (function () { doze(0.06); })(); } }
class Cart { use Talks;
	function total() { (fn() => doze(0.06))(); (fn($x) => [doze(0.06), (fn() => doze(0.06))()])(1); }
	function bound() { return \Closure::bind(function () { doze(0.06); }, new Other, Other::class); }
	static function make() { array_map(static fn($x) => doze(0.06), [1]); } }
class Other {}
function plain() { array_map(fn($x) => doze(0.06), array_filter([1], fn($x) => [doze(0.06)])); }
$c = new Cart; $c->talk(); $c->total(); ($c->bound())(); Cart::make(); plain();
array_map(fn($x) => doze(0.06), array_filter([1], fn($x) => [doze(0.06)]));
(new class { function run() { (fn() => doze(0.06))(); } })->run();
function one() { return fn() => doze(0.06); } function two() { return fn() => doze(0.06); } $three = fn() => doze(0.06);
function begins() { return [fn() => doze(0.06),
	fn() => doze(0.06)]; } if ($c) { function ends() { return fn() => doze(0.06); } }
$three(); two()(); one()(); array_map(fn($f) => $f(), [begins()[1], ends()]);
} namespace { ' . DOZE . ' }';
$script = "$receiver->directory/script.php";
$expected = [
	"App\\Cart::{closure:$script(3)}", "App\\Cart::{closure:$script(5)}", "App\\Cart::{closure:$script(5)#2}",
	"App\\Cart::{closure:$script(5)#3}", "App\\Cart::{closure:$script(6)}", "App\\Cart::{closure:$script(7)}",
	"{closure:$script(9)}", "{closure:$script(9)#2}", "{closure:$script(11)}", "{closure:$script(11)#2}",
	"class@anonymous::{closure:$script(12)}", "{closure:$script(13)}", "{closure:$script(13)#2}", "{closure:$script(13)#3}",
	"{closure:$script(15)}", "{closure:$script(15)#2}", "{closure:$script(16)}",
];
sort($expected);
$names = function (array $all): array {
	$found = array_values(array_unique(preg_grep('/closure/', $all)));
	sort($found);
	return $found;
};

// On a busy machine ticks may come so late that a function has ended before one comes: it has three chances.
$found = [];
for ($try = 0; $try < 3 && $found != $expected; $try++)
	$found = $names([...$found, ...array_keys(profile($program, [], [], $receiver)->frames())]);
check($found == $expected, 'samples: ' . json_encode($found));

$run = profile($program, ['strobe.mode' => 'off', 'strobe.trace_rate' => '1'], [], $receiver);
$found = $names(array_column($run->runs()[0]['nodes'], 'name'));
check($found == $expected, 'a trace: ' . json_encode($found));
echo "done\n";
?>
--EXPECT--
done
