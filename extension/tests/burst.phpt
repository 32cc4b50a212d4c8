--TEST--
Messages sent faster than the daemon reads them are queued in the process and arrive in order, at safe points or at the end of the request
--EXTENSIONS--
sockets
pcntl
--FILE--
<?php
require __DIR__ . '/strobe.inc';

/* Reads nothing before it is told to. */
class Late extends Receiver
{
	public bool $reads = false;

	public function poll(): void
	{
		if ($this->reads)
			parent::poll();
	}
}

$ini = ['strobe.mode' => 'off', 'strobe.instrument' => '1'];
$burst = '<?php
function save($from, $to, $labels = 4) {
	$pad = array_combine(array_map(fn($i) => "pad$i", range(1, $labels)), array_map(fn($i) => str_repeat(chr(96 + $i), 200), range(1, $labels)));
	for ($lost = 0, $i = $from; $i < $to; $i++) {
		$profile = Strobe\Trace::start(Strobe\COUNTS)->stop();
		try {
			$profile->save("burst", "run$i", $pad);
		} catch (Strobe\Exception $e) {
			$lost++;
		}
	}
	return $lost;
}
';
$names = fn(array $messages) => array_map(fn($m) => $m['labels']['name'], $messages);
$expected = fn(int $n) => array_map(fn($i) => "run$i", range(0, $n - 1));

// 2 MB into a buffer of 208 KB; then the program goes on, and the daemon reads.
$r = new Late();
$run = profile($burst . 'echo save(0, 2000); touch(dirname(__FILE__) . "/sent");
for ($end = microtime(true) + 30; !file_exists(dirname(__FILE__) . "/seen") && microtime(true) < $end; ) { clearstatcache(); usleep(1000); }', $ini, receiver: $r,
	meanwhile: function ($r) {
		$r->reads = $r->reads || file_exists("$r->directory/sent");
		if (count($r->messages) === 2000)
			touch("$r->directory/seen");
	});
check($run->stdout === '0', "$run->stdout lost: $run->stderr");
check(file_exists("$r->directory/seen"), count($run->messages) . ' of 2000 come while the program goes on');
check($names($run->messages) === $expected(2000) && $run->connections === 1, "in order, over $run->connections connection");

// The request ends at once. Nobody reads until the process is gone.
$r = new Late();
$run = profile($burst . 'echo save(0, 2000);', $ini, receiver: $r);
$r->reads = true;
$r->poll();
check($run->stdout === '0' && $run->status === 0, "$run->stdout lost: $run->stderr");
check($names($r->messages) === $expected(2000) && $r->accepted === 1, count($r->messages) . " of 2000 come with the end, over $r->accepted connection");

// A child has none of what waits in its parent, and its own connection.
$r = new Late();
$run = profile($burst . 'save(0, 1000); if (!pcntl_fork()) { save(1000, 1500); exit; } pcntl_wait($status); save(1500, 2000);', $ini, receiver: $r);
$r->reads = true;
$r->poll();
$come = $names($r->messages);
sort($come);
$all = $expected(2000);
sort($all);
check($come === $all && $r->accepted === 2, count($come) . ' come, ' . count(array_unique($come)) . " different, over $r->accepted connections");

// Above 16 MB what finds no room is lost, counted, and told with the next run that arrives.
$r = new Late();
$run = profile($burst . 'echo $lost = save(0, 9000, 12); touch(dirname(__FILE__) . "/sent");
for ($end = microtime(true) + 30; !file_exists(dirname(__FILE__) . "/seen") && microtime(true) < $end; ) { clearstatcache(); usleep(1000); }
save(9000, 9001);', $ini, receiver: $r, meanwhile: function ($r, $run) {
		$r->reads = $r->reads || file_exists("$r->directory/sent");
		if ($run->stdout !== '' && count($r->messages) >= 9000 - (int)$run->stdout)
			touch("$r->directory/seen");
	});
$lost = (int)$run->stdout;
check($lost > 1000 && $lost < 4000, "$lost of 9000 of 2.6 KB find no room");
check(count($run->messages) === 9001 - $lost, count($run->messages) . " of 9001 come, $lost are lost");
check(array_sum(array_map(fn($m) => $m['drops'][2] ?? 0, $run->messages)) === $lost, 'the daemon is told of ' . json_encode(array_column($run->messages, 'drops')[count($run->messages) - 1]));
echo "done\n";
?>
--EXPECT--
done
