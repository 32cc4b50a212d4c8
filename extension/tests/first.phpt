--TEST--
A busy function is sampled with its whole stack, and the message describes the samples
--EXTENSIONS--
sockets
--FILE--
<?php
require __DIR__ . '/strobe.inc';

$run = profile('<?php ' . BUSY . '
function inner() { return busy(0.7); }
class Shop { function price() { return inner(); } static function total() { return (new self)->price(); } }
Shop::total();
echo "output\n";
', ['strobe.flush' => '60', 'strobe.labels' => 'pool=api, deploy=7,bad key=1, =x', 'display_startup_errors' => '0', 'error_log' => '/dev/null']);

check($run->stdout === "output\n" && $run->stderr === '' && $run->status === 0, "the program is not changed: $run->stdout$run->stderr");
check(count($run->messages) === 1, 'one message, at the end');
$m = $run->messages[0];
$labels = $m['labels'];
check($labels['entry'] === 'script' && $labels['sapi'] === 'cli' && $labels['host'] === gethostname(), 'labels: ' . json_encode($labels));
check($labels['pool'] === 'api' && $labels['deploy'] === '7' && !isset($labels['method']) && count($labels) === 5, 'labels: ' . json_encode($labels));
check($m['columns'] === [['samples', 'count']] && $m['period'] === 1000000 && $m['clock'] === 1, 'column, period and clock');
check($run->samples() > 500, 'samples: ' . $run->samples());

$length = ($m['end'] - $m['start']) / 1e6;
check(abs($length - $run->samples()) <= $length * 0.2 + 5, "{$run->samples()} samples of 1 ms in $length ms");

$file = array_key_first(array_filter($run->frames(), fn($f) => str_ends_with($f['name'], 'script.php')));
$expect = "$file;Shop::total;Shop::price;inner;busy";
$share = array_sum(array_filter($run->stacks(), fn($k) => str_starts_with($k, $expect), ARRAY_FILTER_USE_KEY)) / $run->samples();
check($share > 0.9, "$share of the samples are below $expect");
check($run->frames()['inner']['line'] > 0 && $run->frames()['inner']['file'] === $file, 'inner has its file and line');
check($run->with('microtime', leaf: true) > 0, 'internal functions are leaves');
check(count($m['strings']) === count(array_unique($m['strings'])), 'every string stands once');
echo "done\n";
?>
--EXPECT--
done
