--TEST--
excimer: names of functions of every kind in collapsed stacks, by function and for speedscope
--INI--
strobe.compat=excimer
--FILE--
<?php
require __DIR__ . '/excimer.inc';

$folder = sys_get_temp_dir() . '/strobe excimer ' . getmypid();
mkdir($folder);
file_put_contents("$folder/included.php", '<?php
work(0.003);');
file_put_contents("$folder/a b.php", '<?php
namespace N\S;
trait T { function of_trait() { \work(0.003); } static function of_class() { (function() { \work(0.003); })(); } }
abstract class A { function inherited() { \work(0.003); } function includes() { include __DIR__ . "/included.php"; } }
class C extends A { use T; function __get($n) { \work(0.003); } function __destruct() { \work(0.003); } }
function plain() { \work(0.003); }
function recursive($n) { $n ? recursive($n - 1) : \work(0.003); }
function generator() { \work(0.003); yield 1; \work(0.003); }
function delegating() { yield from generator(); }
$anonymous = new class extends A { function own() { $this->inherited(); } };
$closure = function () { \work(0.003); };
$arrow = fn() => \work(0.003);
(new C())->of_trait(); C::of_class(); (new C())->includes(); (new C())->undefined;
plain(); recursive(2); $anonymous->own(); $closure(); $arrow();
foreach (delegating() as $_);
eval("namespace E; function evaluated() { \\\\work(0.003); } evaluated(); \\\\work(0.003);");
array_map(function () { \work(0.003); }, [1]); call_user_func("N\\S\\plain"); usort($list, fn($a, $b) => \work(0.003) ?? 0);
');
$list = [2, 1];
$file = "$folder/a b.php";
$log = profiled(function () use ($file, $list) {
	static $code;
	$code ??= file_get_contents($file);
	file_put_contents($file, preg_replace('/N\\\\S\d*|E\d*;/', '$0', $code));
	$id = ($GLOBALS['round'] = ($GLOBALS['round'] ?? 0) + 1);
	if ($id > 1)	/* the names can be declared only once */
		file_put_contents($file, preg_replace(['/N(\\\\+)S/', '/namespace E;/'], ["N\$1S$id", "namespace E$id;"], $code));
	if (function_exists('opcache_invalidate'))
		opcache_invalidate($file, true);
	include $file;
}, 1500);

$short = fn(string $s): string => preg_replace(['/(N\\\\S|\bE)\d+/', '/(anonymous_.*?:10)\$[0-9a-f]+/'], '$1',
	str_replace([$folder, strtr($folder, ' ', '_')], '', $s));
$seen = [];
foreach (explode("\n", rtrim($log->formatCollapsed())) as $line) {
	check((bool)preg_match('/^[^ ]+ \d+$/', $line), "one word and a number: $line");
	if (preg_match('~;(/a_b\.php(?:;.*)?);work \d+$~', $short($line), $m))
		$seen[$m[1]] = true;
}
ksort($seen);
echo implode("\n", array_keys($seen)), "\n";

/* Each number is the sum of what the entries say. */
preg_match_all('/ (\d+)$/m', $log->formatCollapsed(), $counts);
check(array_sum($counts[1]) === $log->getEventCount(), 'collapsed: no event is lost');

$by = $log->aggregateByFunction();
check(array_sum(array_column($by, 'self')) === $log->getEventCount(), 'by function: no event is lost');
$inclusive = array_column($by, 'inclusive');
$sorted = $inclusive;
rsort($sorted);
check($inclusive === $sorted && $inclusive[0] === $log->getEventCount(), 'most inclusive first, and the file is in each');
foreach ($by as $name => $f) {
	check(array_keys($f) === array_values(array_intersect(['file', 'line', 'class', 'function', 'closure_line', 'self', 'inclusive'], array_keys($f))), json_encode($f));
	check($f['self'] <= $f['inclusive'], "$name: self");
	if (isset($f['closure_line']))
		check($name === "{closure:{$f['file']}({$f['closure_line']})}", "the name $name");
	else if (isset($f['function']))
		check($name === (isset($f['class']) ? "{$f['class']}::" : '') . $f['function'], "the name $name");
	else
		check($name === $f['file'], "the name $name");
}
check(array_key_exists("$folder/included.php", $by) && isset($by["$folder/included.php"]['class']), 'blanks are kept; what a method includes is its class\'s');

$scope = $log->getSpeedscopeData();
check(array_keys($scope) === ['$schema', 'exporter', 'shared', 'profiles'] && count($scope['profiles']) === 1, 'speedscope');
$frames = $scope['shared']['frames'];
check(count(array_unique(array_map('json_encode', $frames))) === count($frames), 'every frame once');
foreach ($frames as $f)
	check(array_keys($f) === ['name', 'file'] && !str_contains($f['name'], ' '), json_encode($f));
$profile = $scope['profiles'][0];
check(count($profile['samples']) === count($log) && count($profile['weights']) === count($log), 'a sample per entry');
foreach ($log as $i => $entry) {
	$names = array_map(fn($at) => $frames[$at]['file'], $profile['samples'][$i]);
	if (end($names) === '[internal function]')	/* in a trace it has the place it was called from */
		$names[array_key_last($names)] = $names[count($names) - 2];
	check($names === array_reverse(array_column($entry->getTrace(), 'file')), 'the stack, outermost first');
	check($profile['weights'][$i] === $entry->getEventCount() * 1000000, 'nanoseconds');
}
check(abs($profile['endValue'] / 1e9 - ($log[count($log) - 1]->getTimestamp() - $log[0]->getTimestamp())) < 1e-6, 'from the first to the last');
array_map('unlink', glob("$folder/*"));
rmdir($folder);
echo "done\n";
?>
--EXPECT--
/a_b.php;/a_b.php(16)_:_eval()'d_code
/a_b.php;/a_b.php(16)_:_eval()'d_code;E\evaluated
/a_b.php;N\S\A::includes;/included.php
/a_b.php;N\S\A@anonymous_/a_b.php:10::own;N\S\A::inherited
/a_b.php;N\S\C::__destruct
/a_b.php;N\S\C::__get
/a_b.php;N\S\C::of_class;{closure:/a_b.php(3)}
/a_b.php;N\S\C::of_trait
/a_b.php;N\S\delegating;N\S\generator
/a_b.php;N\S\plain
/a_b.php;N\S\recursive;N\S\recursive;N\S\recursive
/a_b.php;{closure:/a_b.php(11)}
/a_b.php;{closure:/a_b.php(12)}
/a_b.php;{closure:/a_b.php(17)}
done
