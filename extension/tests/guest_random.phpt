--TEST--
The program's random numbers are unaffected: mt_rand, rand, shuffle and others return the same values
--EXTENSIONS--
sockets
--FILE--
<?php
require __DIR__ . '/guest.inc';

$code = <<<'PHP'
<?php
function drawn(int $mode): array
{
	$list = range(1, 12);
	shuffle($list);
	$keys = array_rand(array_flip(range(1, 30)), 4);
	return [mt_rand(), rand(), mt_rand(1, 6), rand(1, 1000), implode(',', $list), implode(',', $keys), str_shuffle('abcdefgh')];
}
$watches = [
	'seeded, then watched' => function ($mode) { mt_srand(1, $mode); watch_start(); },
	'watched, then seeded' => function ($mode) { watch_start(); mt_srand(1, $mode); },
	'watched in between' => function ($mode) { mt_srand(1, $mode); mt_rand(); watch_start(); mt_rand(); watch_stop(); mt_rand(); },
];
foreach ([MT_RAND_MT19937, @MT_RAND_PHP] as $mode)
	foreach ($watches as $name => $watch) {
		watch_stop();
		$watch($mode);
		for ($i = 0, $end = hrtime(true) + 30e6; hrtime(true) < $end; $i++);
		echo $name, ': ', implode(' ', drawn($mode)), "\n";
		watch_stop();
	}
// One number, so that the reader sees what it is compared with.
mt_srand(1);
echo mt_rand(), "\n";
$engine = new Random\Randomizer(new Random\Engine\Mt19937(3));
echo $engine->getInt(1, 1000000), "\n";
PHP;
nobody_notices('random numbers', $code, null, ['unwatched' => true, 'error_reporting' => '8191']);
$plain = watch('plain', $code, ['unwatched' => true, 'error_reporting' => '8191'])->stdout;
check(str_contains($plain, "\n895547922\n"), "plain PHP gives what it always gave:\n$plain");
echo "done\n";
?>
--EXPECT--
done
