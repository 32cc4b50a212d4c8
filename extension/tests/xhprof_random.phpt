--TEST--
xhprof family: random call trees with ignored functions match a reference count
--INI--
strobe.compat=tideways_xhprof,xhprof,uprofiler
--FILE--
<?php
require __DIR__ . '/edges.inc';

const NAMES = ['f0', 'f1', 'f2', 'f3', 'K::f0', 'K::f1', 'L::f1', 'L::f2'];
function f0($calls) { foreach ($calls as [$f, $c]) $f($c); }
function f1($calls) { foreach ($calls as [$f, $c]) $f($c); }
function f2($calls) { foreach ($calls as [$f, $c]) $f($c); }
function f3($calls) { foreach ($calls as [$f, $c]) $f($c); }
class K {
	static function f0($calls) { foreach ($calls as [$f, $c]) $f($c); }
	static function f1($calls) { foreach ($calls as [$f, $c]) $f($c); }
}
class L extends K {
	static function f1($calls) { foreach ($calls as [$f, $c]) $f($c); }
	static function f2($calls) { foreach ($calls as [$f, $c]) $f($c); }
}

function plan(int $depth): array
{
	for ($calls = [], $n = mt_rand(0, $depth > 9 ? 0 : 3); $n > 0; $n--)
		$calls[] = [NAMES[mt_rand(0, 7)], plan($depth + 1)];
	return $calls;
}

/* Walks the plan as the originals walk their stack. */
function count_calls(array $calls, array $stack, array $ignored, array &$edges): void
{
	foreach ($calls as [$name, $inner]) {
		if (in_array($name, $ignored, true)) {
			count_calls($inner, $stack, $ignored, $edges);
			continue;
		}
		$level = 0;
		for ($i = count($stack) - 1; $i >= 0; $i--)
			if ($stack[$i][0] === $name) {
				$level = $stack[$i][1] + 1;
				break;
			}
		[$caller, $caller_level] = end($stack);
		$pair = $caller . ($caller_level ? "@$caller_level" : '') . '==>' . $name . ($level ? "@$level" : '');
		$edges[$pair] = ($edges[$pair] ?? 0) + 1;
		count_calls($inner, [...$stack, [$name, $level]], $ignored, $edges);
	}
}

mt_srand(7);
$pairs = 0;
for ($round = 0; $round < 60; $round++) {
	$plan = [['f0', plan(0)], ['K::f1', plan(0)], ['L::f1', plan(0)]];
	foreach (['tideways_xhprof', 'xhprof', 'uprofiler'] as $api) {
		$ignored = $api === 'tideways_xhprof' || $round % 3 === 0 ? [] : array_rand(array_flip(NAMES), 2);
		("{$api}_enable")($api === 'tideways_xhprof' ? 8 : 1, ...($api === 'tideways_xhprof' ? [] : [['ignored_functions' => $ignored]]));
		foreach ($plan as [$f, $c])
			$f($c);
		$r = ("{$api}_disable")();
		check_edges($r);
		$expected = ['main()' => 1];
		count_calls($plan, [['main()', 0]], $ignored, $expected);
		ksort($expected);
		if (calls($r) !== $expected)
			echo "$api, round $round, without ", implode(' ', $ignored), ":\n", json_encode(array_diff_assoc($expected, calls($r))), "\n";
		$pairs += count($expected);
	}
}
echo $pairs > 5000 ? "done\n" : "only $pairs pairs\n";
?>
--EXPECT--
done
