--TEST--
Samples of a program that alternates between short work and waits belong to the running function in proportion to its time; with the clock "cpu" waits have none
--EXTENSIONS--
sockets
--SKIPIF--
<?php
/* There a thread that wakes up waits until the one on its processor blocks, and nothing can be done about it. */
if (version_compare(php_uname('r'), '6.6', '>=') && version_compare(php_uname('r'), '6.12', '<'))
	die('skip this version of Linux delays the ticks');
if (getenv('STROBE_TEST_UNDER'))
	die('skip under valgrind, threads take turns');
--FILE--
<?php
require __DIR__ . '/strobe.inc';

$program = '<?php
function work() { for ($end = hrtime(true) + 1000000, $x = 1; hrtime(true) < $end;) for ($i = 0; $i < 300; $i++) $x = ($x * 3 + 7) % 1000003; }
for ($worked = 0, $begin = hrtime(true); $worked < 400000000;) {
	$at = hrtime(true);
	work();
	$worked += hrtime(true) - $at;
	usleep(4000);
}
echo json_encode([$worked, hrtime(true) - $begin]);
';
$receiver = new Receiver();
$worked = $took = $runs = 0;
do {
	$run = profile($program, ['under' => ['taskset', '-c', '0']], [], $receiver);	// on one processor with the ticking thread
	[$ns, $of] = json_decode($run->stdout);
	[$worked, $took] = [$worked + $ns, $took + $of];
	$all = array_sum($run->stacks());
	$right = $all > 500 && abs($run->with('work') / $all - $worked / $took) < 0.07;
} while (!$right && ++$runs < 5);		// all together: where ticks are late it takes more of them
check($right, "of $all, work: {$run->with('work')}, truly " . $worked / $took);

/* A machine that is busy has less than the time of work() for the program: it goes on until it has had enough of a processor. */
$program = '<?php
function cpu_ms() { $u = getrusage(); return $u["ru_utime.tv_sec"] * 1000 + $u["ru_utime.tv_usec"] / 1000; }
function work() { for ($end = hrtime(true) + 1000000, $x = 1; hrtime(true) < $end;) for ($i = 0; $i < 300; $i++) $x = ($x * 3 + 7) % 1000003; }
for ($end = cpu_ms() + 500; cpu_ms() < $end;) {
	work();
	usleep(4000);
}
';
$run = profile($program, ['strobe.clock' => 'cpu', 'strobe.period' => '0.005']);
$all = array_sum($run->stacks());
check($all > 50 && $run->with('usleep') < 0.25 * $all, "of $all, usleep: {$run->with('usleep')}");
check($run->with('work') > 0.6 * $all, "of $all, work: {$run->with('work')}");

echo "done\n";
?>
--EXPECT--
done
