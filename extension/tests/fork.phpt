--TEST--
Forked children and grandchildren are sampled on their own; nothing is counted twice
--EXTENSIONS--
sockets
pcntl
--FILE--
<?php
require __DIR__ . '/strobe.inc';

$run = profile('<?php ' . BUSY . '
function before() { busy(0.1); }
function in_parent() { busy(0.15); }
function in_child() { busy(0.15); }
function in_grandchild() { busy(0.15); }
before();
$child = pcntl_fork();
if ($child === 0) {
	in_child();
	$grandchild = pcntl_fork();
	if ($grandchild === 0) {
		in_grandchild();
		exit(7);
	}
	pcntl_waitpid($grandchild, $status);
	exit(pcntl_wexitstatus($status));
}
in_parent();
pcntl_waitpid($child, $status);
echo pcntl_wexitstatus($status), " ", getmypid(), "\n";
');
[$status, $parent] = explode(' ', trim($run->stdout));
check($status === '7', "the program is not changed: $run->stdout$run->stderr");
$by_pid = [];
foreach ($run->messages as $m)
	foreach ($m['stacks'] as [$path, $samples])
		foreach ($path as $name)
			$by_pid[$m['pid']][$name] = ($by_pid[$m['pid']][$name] ?? 0) + $samples;
check(count($by_pid) === 3 && isset($by_pid[$parent]), 'three processes sent samples: ' . json_encode($by_pid));
check($run->connections === 3, "each over its own connection: $run->connections");
$sums = fn($name) => array_map(fn($p) => $p[$name] ?? 0, $by_pid);
foreach (['before' => 100, 'in_parent' => 150, 'in_child' => 150, 'in_grandchild' => 150] as $name => $ms) {
	$sum = array_sum($sums($name));
	check(count(array_filter($sums($name))) === 1, "$name belongs to one process: " . json_encode($by_pid));
	check($sum >= $ms * 0.8 - 10 && $sum <= $ms * 3, "$name: $sum samples in $ms ms");
}
check(($by_pid[$parent]['before'] ?? 0) > 0 && ($by_pid[$parent]['in_parent'] ?? 0) > 0, 'the parent goes on');

// Many forks at once, some of which only exec.
$run = profile('<?php ' . BUSY . '
for ($round = 0; $round < 10; $round++) {
	$children = [];
	for ($i = 0; $i < 4; $i++) {
		$pid = pcntl_fork();
		if ($pid === 0) {
			busy(0.01);
			if ($i == 0)
				pcntl_exec("/bin/true");
			exit($i);
		}
		$children[$pid] = $i;
	}
	busy(0.01);
	foreach ($children as $pid => $i) {
		pcntl_waitpid($pid, $status);
		if (!pcntl_wifexited($status) || pcntl_wexitstatus($status) !== $i)
			echo "child $i ended with $status\n";
	}
}
echo "all well\n";
');
check($run->stdout === "all well\n" && $run->status === 0, "ten times four children: $run->stdout$run->stderr");
echo "done\n";
?>
--EXPECT--
done
