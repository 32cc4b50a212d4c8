--TEST--
Forked children and grandchildren are sampled separately; no sample is counted twice
--EXTENSIONS--
sockets
pcntl
--FILE--
<?php
require __DIR__ . '/strobe.inc';

$run = profile('<?php ' . DOZE . '
function before() { took(__FUNCTION__, -hrtime(true), doze(0.15), hrtime(true)); }
function in_parent() { took(__FUNCTION__, -hrtime(true), doze(0.15), hrtime(true)); }
function in_child() { took(__FUNCTION__, -hrtime(true), doze(0.15), hrtime(true)); }
function in_grandchild() { took(__FUNCTION__, -hrtime(true), doze(0.15), hrtime(true)); }
/* In one piece: parent and child write to one pipe. */
function took($function, $begin, $ignored, $end) { echo "$function " . ($begin + $end) / 1e6 . "\n"; }
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
preg_match_all('/^(\w+) ([\d.]+)$/m', $run->stdout, $m);
$took = array_combine($m[1], $m[2]);
[$status, $parent] = explode(' ', substr(strrchr("\n" . trim($run->stdout), "\n"), 1));
check($status === '7', "the program is not changed: $run->stdout$run->stderr");
$by_pid = [];
foreach ($run->messages as $m)
	foreach ($m['stacks'] as [$path, $samples])
		foreach ($path as $name)
			$by_pid[$m['pid']][$name] = ($by_pid[$m['pid']][$name] ?? 0) + $samples;
check(count($by_pid) === 3 && isset($by_pid[$parent]), 'three processes sent samples: ' . json_encode($by_pid));
check($run->connections === 3, "each over its own connection: $run->connections");
$sums = fn($name) => array_map(fn($p) => $p[$name] ?? 0, $by_pid);
foreach (['before', 'in_parent', 'in_child', 'in_grandchild'] as $name) {
	$ms = (float)($took[$name] ?? 0);
	$sum = array_sum($sums($name));
	check(count(array_filter($sums($name))) === 1, "$name belongs to one process: " . json_encode($by_pid));
	check($ms >= 150 && abs($sum - $ms) <= $ms * 0.3 + 40, "$name: $sum samples in $ms ms");
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
