--TEST--
Functions of every kind appear in stacks with their name, declaring class, file and line
--EXTENSIONS--
sockets
--FILE--
<?php
require __DIR__ . '/strobe.inc';

$receiver = new Receiver();
$inc = "$receiver->directory/included.php";
file_put_contents($inc, '<?php doze(0.06); return 1;');
$code = '<?php namespace App {
use function doze;
function plain() { doze(0.06); }
class Base { function inherited() { doze(0.06); } static function make() { doze(0.06); } function __call($n, $a) { doze(0.06); } function __destruct() { doze(0.06); } }
trait Talks { function talk() { doze(0.06); } }
final class Child extends Base { use Talks; function __construct() { doze(0.06); } }
enum Suit { case Hearts; function label() { doze(0.06); } }
function numbers() { doze(0.06); yield 1; doze(0.06); yield from more(); }
function more() { doze(0.06); yield 2; }
plain();
$c = new Child; $c->inherited(); $c->talk(); Child::make(); $c->missing(); $f = $c->missing(...); $f(); call_user_func($f); unset($c, $f);
Suit::Hearts->label();
$closure = function () { doze(0.06); };
$closure();
(fn() => doze(0.06))();
$f = plain(...); $f();
array_map(function ($x) { doze(0.06); }, [1]);
foreach (numbers() as $n);
$anonymous = new class { function run() { doze(0.06); } }; $anonymous->run();
include "' . $inc . '"; require "' . $inc . '";
eval("namespace App; function from_eval() { doze(0.06); } from_eval(); doze(0.06);");
$fiber = new \Fiber(function () { doze(0.06); \Fiber::suspend(1); doze(0.06); });
$fiber->start(); $fiber->resume();
call_user_func_array([new Child, "talk"], []);
usort($list, fn($a, $b) => doze(0.06)) ?? 0;
register_shutdown_function(function () { doze(0.06); });
} namespace { ' . DOZE . ' }';
$code = str_replace('usort($list,', '$list = [2, 1]; usort($list,', $code);
$line = function (string $part) use (&$code): int {
	check(str_contains($code, $part), "the program contains $part");
	return 1 + substr_count(strstr($code, $part, true), "\n");
};
$script = "$receiver->directory/script.php";
$names = [$script, 'App\plain', 'App\Base::inherited', 'App\Base::make', 'App\Base::__call', 'App\Base::__destruct',
	'App\Child::talk', 'App\Child::__construct', 'App\Suit::label', 'App\numbers', 'App\more', 'App\from_eval', $inc, 'class@anonymous::run',
	'array_map', 'usort', 'Fiber::start', 'Fiber::resume', "$script({$line('eval(')}) : eval()'d code"];
foreach (['$closure = function', '(fn() =>', 'array_map(', 'new \Fiber', 'usort($list, fn', 'register_shutdown'] as $part)
	$names[] = '{closure:' . $script . "({$line($part)})}";
// On a busy machine ticks may come so late that a function has ended before one comes: it has three chances.
$frames = $stacks = [];
for ($try = 0; $try < 3; $try++) {
	$run = profile($code, [], [], $receiver);
	check($run->status === 0 && $run->stdout === '', "the program runs: $run->stdout");
	$frames += $run->frames();
	$stacks += $run->stacks();
	$missing = array_diff($names, array_keys($frames));
	if (!$missing)
		break;
}
check(!$missing, 'missing: ' . implode(', ', $missing));
// __call() is called by way of a function of that name, and so is a closure that is made of it.
check(!preg_grep('/::missing/', array_keys($frames)), 'a method that does not exist: ' . implode(' ', array_keys($frames)));
check(!preg_grep('/\0/', array_keys($frames)), 'no NUL in a name');

foreach (['App\plain' => 'function plain', 'App\Base::inherited' => 'function inherited', 'class@anonymous::run' => 'new class'] as $name => $part) {
	$f = $frames[$name] ?? ['file' => '', 'line' => 0];
	check($f['file'] === $script && $f['line'] === $line($part), "$name is at line {$line($part)}: {$f['file']}:{$f['line']}");
}
$stacks = implode("\n", array_keys($stacks));
foreach (["$script;array_map;{closure:$script({$line('array_map(')})};doze", "$script;$inc;doze", "$script;App\\numbers;App\\more;doze",
	"$script;Fiber::start;{closure:$script({$line('new \Fiber')})};doze", "$script;$script({$line('eval(')}) : eval()'d code;App\\from_eval;doze"] as $path)
	check(str_contains($stacks, $path), "there is a stack $path");
echo "done\n";
?>
--EXPECT--
done
