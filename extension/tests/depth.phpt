--TEST--
Recursion of any depth: root and leaf are kept, the elided middle is marked, no sample is lost
--EXTENSIONS--
sockets
--INI--
memory_limit=-1
--FILE--
<?php
require __DIR__ . '/strobe.inc';

$code = '<?php ' . DOZE . '
function root(int $depth) { return down($depth); }
function down(int $depth) { return $depth ? down($depth - 1) : leaf(); }
function leaf() { return doze(0.4); }
root((int)$argv[1]);
echo "deep\n";
';
$depths = [[5, 512], [508, 512], [600, 512], [300000, 512], [100, 4], [20000, 8192], ...(in_full() ? [[300, 512], [50000, 512], [100, 5]] : [])];
foreach ($depths as [$depth, $max]) {
	$run = profile($code, ['strobe.max_depth' => $max, 'memory_limit' => '4G', 'zend.max_allowed_stack_size' => '-1'], [$depth]);
	check($run->status === 0 && $run->stdout === "deep\n", "depth $depth runs: $run->status $run->stdout");
	$all = $run->samples();
	check($all >= 150, "depth $depth: $all samples");
	$good = 0;
	foreach ($run->messages as $m)
		foreach ($m['stacks'] as [$path, $samples]) {
			$n = count($path);
			check($n <= $max + 1, "depth $depth, limit $max: a stack of $n");
			if (!in_array('doze', $path, true)) {		/* on the way down, or up again */
				$all -= $samples;
				continue;
			}
			if (!str_ends_with($path[0], 'script.php') || ($max > 5 && ($path[1] ?? '') !== 'root'))
				continue;
			$elided = array_keys($path, '[elided]', true);
			if ($depth + 5 > $max ? count($elided) === 1 : !$elided && count(array_keys($path, 'down', true)) <= $depth + 1)
				$good += $samples;
		}
	check($good >= 0.95 * $all - 2, "depth $depth, limit $max: $good of $all samples have root and mark");
	check($run->with('doze') >= 150, "depth $depth, limit $max: the leaf is kept");
}
echo "done\n";
?>
--EXPECT--
done
