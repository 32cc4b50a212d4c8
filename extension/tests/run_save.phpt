--TEST--
Strobe\Profile::save: a run with a name, labels and its own id; an undeliverable run throws an exception and is counted
--EXTENSIONS--
sockets
--FILE--
<?php
require __DIR__ . '/strobe.inc';

const PROGRAM = '<?php
function work() { return strlen(str_repeat("x", 100)); }
function thrown(callable $f): string
{
	try {
		return $f();
	} catch (Throwable $e) {
		return get_class($e) . ": " . $e->getMessage();
	}
}
function lost(): array
{
	ob_start();
	phpinfo(INFO_MODULES);
	preg_match_all("~^(Runs (?:sent|lost: \w+)) => (\d+)~m", ob_get_clean(), $m);
	return array_filter(array_combine($m[1], $m[2]));
}
$t = Strobe\Trace::start();
work();
$p = $t->stop();
';
$ini = ['strobe.mode' => 'off', 'strobe.instrument' => '1', 'strobe.labels' => 'pool=api'];

$run = profile(PROGRAM . '
Strobe\add_label("tenant", "blue");
$ids = [$p->save("tests"), $p->save("tests.2-x_Y", "Ünlimited; \"name\"", ["pool" => "mine", "n" => 5, "ok" => true, "none" => null]), $p->save("s", str_repeat("é", 600))];
$s = new Strobe\Sampler(0.001);
$s->start();
usleep(30000);
work();
$ids[] = $s->stop()->save("sampled");
foreach ([["", null, []], ["a b", null, []], [".", null, []], ["..", null, []], [str_repeat("s", 65), null, []], ["s", null, ["a-b" => 1]], ["s", null, ["id" => 1]], ["s", null, [5 => 1]], ["s", null, ["a" => []]],
	["s", null, array_fill_keys(array_map(fn($i) => "l$i", range(1, 40)), "x")]] as $arguments)
	$errors[] = thrown(fn() => $p->save(...$arguments));
echo json_encode([$ids, $errors, lost(), $p->getTotals()]);
', $ini);
[$ids, $errors, $lost, $totals] = json_decode($run->stdout, true);
$runs = $run->runs();
check(count($runs) === 4 && count(array_unique($ids)) === 4 && array_column(array_column($runs, 'labels'), 'id') === $ids, $run->stdout);
foreach ($ids as $id)
	check(preg_match('/^[0-9a-f]{32}$/', $id) === 1, $id);
$common = ['pool' => 'api', 'entry' => 'script', 'sapi' => 'cli', 'host' => gethostname(), 'tenant' => 'blue'];
check($runs[0]['labels'] === ['source' => 'tests', 'id' => $ids[0]] + $common, json_encode($runs[0]['labels']));
check($runs[1]['labels'] === ['source' => 'tests.2-x_Y', 'id' => $ids[1], 'name' => 'Ünlimited; "name"', 'pool' => 'mine'] + $common + ['n' => '5', 'ok' => '1', 'none' => ''], json_encode($runs[1]['labels']));
check($runs[2]['labels']['name'] === str_repeat('é', 512), 'a long name is cut between characters: ' . strlen($runs[2]['labels']['name']));
foreach (run_tree($runs[0])['main()'] as $metric => $v)
	check($metric === 'calls' || $v === $totals[$metric], "$metric: $v is $totals[$metric]");
check(array_sum(run_calls($runs[0])) === $totals['calls'] && run_calls($runs[0])['work'] === 1, 'calls');
check($runs[3]['clock'] === 1 && $runs[3]['period'] === 1000000 && array_column($runs[3]['columns'], 0) === ['wall_ns', 'samples'], json_encode($runs[3]['columns']));
check(run_tree($runs[3])['main()']['samples'] >= 25, 'samples below main()');
echo implode("\n", $errors), "\n";
check($lost === ['Runs sent' => '4'], json_encode($lost));
check($run->connections === 1, "$run->connections connection");

// No daemon; one that goes away and comes back, and hears of what was lost.
$receiver = new Receiver(false);
$run = profile(PROGRAM . '
echo thrown(fn() => $p->save("s")), "\n", thrown(fn() => $p->save("s")), "\n";
touch($argv[1]);
for ($i = 0; $i < 500 && !file_exists("$argv[1].ready"); $i++)
	usleep(10000);
echo strlen($p->save("s")), json_encode(lost()), "\n";
$p->save("s");
', $ini, ["$receiver->directory/mark"], $receiver, function ($receiver) {
	if (file_exists("$receiver->directory/mark") && !file_exists("$receiver->directory/mark.ready")) {
		$receiver->listen();
		touch("$receiver->directory/mark.ready");
	}
});
echo $run->stdout;
check(array_column($run->runs(), 'drops') === [[1 => 2], []], 'the daemon hears of the lost ones once: ' . json_encode(array_column($run->runs(), 'drops')));

// A daemon that does not read.
$run = profile(PROGRAM . '
for ($i = 0; $i < 100000; $i++)
	if (str_contains($e = thrown(fn() => $p->save("s")), "Exception"))
		break;
echo $e, "\n", $i > 1 && array_keys(lost()) === ["Runs sent", "Runs lost: socket_full"] ? "counted" : json_encode(lost()), "\n";
', $ini, [], new class extends Receiver {
	public function poll(): void {}
});
echo $run->stdout;

// Nobody may write there, or the path is none.
$run = profile(PROGRAM . 'echo thrown(fn() => $p->save("s")), "\n";', ['display_startup_errors' => '0', 'strobe.socket' => '/' . str_repeat('x', 200)] + $ini);
echo $run->stdout;

// A request that is traced and cannot be sent goes on as if nothing was.
$run = profile('<?php echo "fine\n";', ['strobe.trace_rate' => '1', 'strobe.socket' => '/nowhere/s'] + $ini);
check($run->stdout === "fine\n" && $run->status === 0 && $run->stderr === '', "a lost run: $run->stdout$run->stderr");
echo "done\n";
?>
--EXPECT--
ValueError: Strobe\Profile::save(): Argument #1 ($source) must be 1 to 64 letters, digits, ".", "_" or "-", and neither "." nor ".."
ValueError: Strobe\Profile::save(): Argument #1 ($source) must be 1 to 64 letters, digits, ".", "_" or "-", and neither "." nor ".."
ValueError: Strobe\Profile::save(): Argument #1 ($source) must be 1 to 64 letters, digits, ".", "_" or "-", and neither "." nor ".."
ValueError: Strobe\Profile::save(): Argument #1 ($source) must be 1 to 64 letters, digits, ".", "_" or "-", and neither "." nor ".."
ValueError: Strobe\Profile::save(): Argument #1 ($source) must be 1 to 64 letters, digits, ".", "_" or "-", and neither "." nor ".."
ValueError: Strobe\Profile::save(): Argument #3 ($labels) must have keys of letters, digits and "_", other than source, id, url and name
ValueError: Strobe\Profile::save(): Argument #3 ($labels) must have keys of letters, digits and "_", other than source, id, url and name
ValueError: Strobe\Profile::save(): Argument #3 ($labels) must have keys of letters, digits and "_", other than source, id, url and name
TypeError: Strobe\Profile::save(): Argument #3 ($labels) must have strings as values, array given
ValueError: Strobe\Profile::save(): Argument #3 ($labels) must leave the run with 32 labels at most
Strobe\Exception: The run cannot be delivered: no daemon listens on the socket of strobe.socket
Strobe\Exception: The run cannot be delivered: no daemon listens on the socket of strobe.socket
32{"Runs sent":"1","Runs lost: no_daemon":"2"}
Strobe\Exception: The run cannot be delivered: the daemon does not read its socket fast enough
counted
Strobe\Exception: The run cannot be delivered: no daemon listens on the socket of strobe.socket
done
