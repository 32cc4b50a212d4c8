--TEST--
In samples a trait's method belongs to the class that uses it, and a first-class callable is the function itself
--SKIPIF--
<?php if (function_exists('opcache_get_status') && (@opcache_get_status(false)['jit']['on'] ?? false)) die('skip which samples are taken under JIT is tested elsewhere'); ?>
--FILE--
<?php
require __DIR__ . '/strobe.inc';
eval(BUSY . BUSY_TICKED);

trait Works { public function work() { busy_ticked(0.05); } public static function fixed() { busy_ticked(0.05); } public function inner() { (function () { busy_ticked(0.05); })(); } }
class One { use Works; }
class Two { use Works { work as toil; } }
enum Three { case X; use Works; }
$sampler = new Strobe\Sampler(0.0005);
$sampler->start();
(new One)->work(); (new Two)->work(); (new Two)->toil(); Three::X->work(); One::fixed(); Two::fixed(); (new One)->inner(); (new Two)->inner();
array_map((new Two)->toil(...), [1]);
$profile = $sampler->stop();
$names = array_column($profile->getFunctions(), 'name');
foreach (['One::work', 'Two::work', 'Two::toil', 'Three::work', 'One::fixed', 'Two::fixed', 'One::inner', 'Two::inner'] as $name)
	check(in_array($name, $names), "$name has samples: " . implode(' ', $names));
$classes = [];
foreach (array_keys($profile->toXhprof()) as $edge)
	if (preg_match('~==>(\w+)::\{closure\}/\d+$~', $edge, $m))
		$classes[$m[1]] = 1;
check(array_keys($classes) == ['One', 'Two'], 'closures of both: ' . implode(' ', array_keys($classes)));
check(preg_grep('~^[^;]*;array_map;Two::toil~', explode("\n", $profile->toFolded())) !== [], 'and its callable has the name');

function first($s) { busy_ticked(0.05); }
function second($s) { busy_ticked(0.05); }
class Busy { function method($s) { busy_ticked(0.05); } }
$sampler = new Strobe\Sampler(0.0005);
$sampler->start();
array_map(first(...), [1]);
first(1);
second(1);
array_map(second(...), [1]);
array_map((new Busy)->method(...), [1]);
(new Busy)->method(1);
$lines = explode("\n", trim($sampler->stop()->toFolded('samples')));
foreach (['array_map;first', 'array_map;second', 'array_map;Busy::method', ';first', ';second', ';Busy::method'] as $part)
	check(preg_grep("~$part;busy~", $lines) !== [], "$part has samples: " . implode("\n", $lines));
check(!preg_grep('/closure/', $lines), 'and nothing is a closure');
echo "done\n";
?>
--EXPECT--
done
