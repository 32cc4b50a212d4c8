--TEST--
A sample belongs to the code running at the tick rather than to a call skipped by a jump or a short later call, even if the function has returned since
--EXTENSIONS--
sockets
--FILE--
<?php
require __DIR__ . '/strobe.inc';

$long = fn(int $n): string => str_repeat('$x = ($x * 3 + 7) % 1000003; ', $n);
$code = '<?php
/* The safe point is reached by a jump past the call. */
function passed($n) { $x = 1; for ($i = 0; $i < $n; $i++) { ' . $long(300) . ' if ($i === 0) set_time_limit(0); } return $x; }
/* The only safe point is the call. */
function before($x) { ' . $long(2000) . ' $y = abs($x); return $x; }
/* No safe point before it returns. */
class Leaf { function get($x) { ' . $long(1000) . ' return $x; } static function twice($x) { ' . $long(500) . ' return $x; } }
trait Shared { function own($x) { ' . $long(1000) . ' return $x; } }
class First { use Shared; } class Second { use Shared; }
/* The choice is left to chance: the period must not be a multiple of a round. */
function callers($leaf, $closure, $first, $second) {
	$took = [0, 0, 0, 0, 0];
	for ($end = hrtime(true) + 4e8, $x = 1, $now = hrtime(true); $now < $end;) {
		switch ($i = min(mt_rand(0, 5), 4)) {
		case 0: $x = $leaf->get($x); break;
		case 1: $x = Leaf::twice($x); break;
		case 2: $x = $closure($x); break;
		case 3: $x = $first->own($x); break;
		default: $x = $second->own($x);
		}
		$before = $now;
		$took[$i] += ($now = hrtime(true)) - $before;
	}
	return $took;
}
passed(15000);
for ($end = microtime(true) + 0.3, $x = 1; microtime(true) < $end;) $x = before($x);
echo json_encode(callers(new Leaf, function ($x) { ' . $long(1000) . ' return $x; }, new First, new Second));
';
$own = fn(Run $run, string $f): float => $run->with($f, true) / max(1, $run->with($f));
$took = [0, 0, 0, 0, 0];

/* A single late tick stands for 20 ms and more, so that it may take several runs; what is wrong is so each time. */
profile_until(function (Run $run) use ($own, &$took): array {
	$now = json_decode($run->stdout);
	check(is_array($now), "the program says what took how long: $run->stdout");
	$took = array_map(fn($a, $b) => $a + $b, $took, $now);
	$wrong = [];
	foreach (['passed' => 'set_time_limit', 'before' => 'abs'] as $f => $short)
		if ($run->with($f) <= 50 || $own($run, $f) <= 0.97 || $run->with($short) > 0.02 * $run->with($f))
			$wrong[] = "$f: " . json_encode($run->stacks());

	/* Each as long as the program has seen it take: where the machine has no processor for it, that is chance. */
	$all = $run->with('callers');
	$closures = array_filter($run->frames(), fn($f) => str_starts_with($f['name'], '{closure:'));
	if (count($closures) !== 1)
		return [...$wrong, 'closures: ' . json_encode(array_keys($closures))];
	foreach (['Leaf::get', 'Leaf::twice', key($closures), 'First::own', 'Second::own'] as $i => $f)
		if ($all <= 100 || abs($run->with($f, true) / $all - $took[$i] / array_sum($took)) >= 0.05)
			$wrong[] = "$f: {$run->with($f, true)} of $all, it took $took[$i] of " . array_sum($took);
	if ($run->with('callers', true) >= 0.06 * $all)
		$wrong[] = "callers: {$run->with('callers', true)} of $all";
	return $wrong;
}, $code, ['strobe.period' => '0.0005']);
echo "done\n";
?>
--EXPECT--
done
