--TEST--
With the JIT nothing is interrupted: samples are taken at calls, or not at all, with a reason that agrees with opcache, even if a program enables the JIT
--EXTENSIONS--
sockets
--SKIPIF--
<?php
if (!is_file(ini_get('extension_dir') . '/opcache.so') && PHP_VERSION_ID < 80500) die('skip there is no opcache');
if (getenv('STROBE_TEST_UNDER')) die('skip it starts dozens of programs');
?>
--FILE--
<?php
require __DIR__ . '/strobe.inc';

const PROGRAM = '<?php
function way() { ob_start(); phpinfo(INFO_MODULES); preg_match("/^Samples are taken => (.*)$/m", ob_get_clean(), $m); return $m[1]; }
function jit() { $j = @opcache_get_status(false)["jit"] ?? []; return ($j["enabled"] ?? false) && ($j["on"] ?? false); }
$all = [way(), function_exists("opcache_get_status") && jit(), Strobe\is_sampling()];
if (isset($argv[1])) {
	ini_set("opcache.jit", $argv[1]);
	$all = [...$all, way(), jit()];
	ini_set("opcache.jit", "off");
	$all[] = way();
}
function burn() { for ($i = 0, $n = 0; $i < 10000000; $i++) $n ^= $i; return $n; }
burn(); burn();
try {
	($s = new Strobe\Sampler(0.001))->start();
	burn();
	$all[] = $s->stop()->getTotals()["samples"] > 0;
} catch (Strobe\Exception $e) {
	$all[] = $e->getMessage();
}
echo json_encode($all);
';

function outcome(array $ini, array $arguments = []): array
{
	$opcache = ['opcache.enable_cli' => '1', 'opcache.jit_buffer_size' => '16M', 'opcache.jit' => 'tracing'];
	$run = profile(PROGRAM, $ini + ['strobe.instrument' => '0'] + (PHP_VERSION_ID < 80500 ? ['zend_extension' => 'opcache'] : []) + $opcache, $arguments);
	check($run->status === 0 && $run->stderr === '', "the program runs: $run->stdout$run->stderr");
	return [json_decode($run->stdout, true), $run];
}

const INTERRUPTS = 'by interrupts, at safe points of the VM';
const CALLS = 'at function calls, by the call observer: interrupts are not safe here';
const NONE = 'interrupts are not safe while PHP\'s JIT compiler is on (opcache.jit)';

/* Settings of opcache, and whether the JIT runs with them; some are synonyms. */
$settings = ['tracing' => [[], true], 'function' => [['opcache.jit' => 'function'], true], 'on' => [['opcache.jit' => 'on'], true],
	'1205' => [['opcache.jit' => '1205'], true], 'off' => [['opcache.jit' => 'off'], false], '0' => [['opcache.jit' => '0'], false],
	'disable' => [['opcache.jit' => 'disable'], false], 'empty' => [['opcache.jit' => ''], false],
	'no buffer' => [['opcache.jit_buffer_size' => '0'], false], 'not on the command line' => [['opcache.enable_cli' => '0'], false]];
if (!in_full())
	$settings = array_diff_key($settings, array_flip(['on', '1205', '0', 'disable', 'empty']));
foreach ($settings as $name => [$ini, $on]) {
	[[$way, $jit, $sampling, $stopped], $run] = outcome($ini);
	check($jit === $on, "$name: opcache says " . json_encode($jit));
	check($on ? str_starts_with($way, NONE) && str_contains($way, 'strobe.instrument=1') : $way === INTERRUPTS, "$name: $way");
	check($sampling === !$on, "$name: is_sampling() " . json_encode($sampling));
	check($on ? $run->samples() === 0 : $run->samples() > 0, "$name: {$run->samples()} samples");
	check($on ? str_contains($stopped, NONE) : $stopped === true, "$name: the sampler says " . json_encode($stopped));
	if ($on) {
		[[$way, $jit, $sampling, $stopped], $run] = outcome($ini + ['strobe.instrument' => '1']);
		check($way === CALLS && $sampling && $stopped === true, "$name at calls: $way, " . json_encode($stopped));
		check($run->samples() > 0 && $run->share('burn') > 0.5, "$name at calls: " . json_encode($run->stacks()));
	}
}

/* opcache_get_status() would warn. */
[[$way], $run] = outcome(['opcache.restrict_api' => '/nowhere']);
check(str_starts_with($way, NONE), "restricted: $way");

/* A program switches it on, and off again: compiled code stays. */
[[$before, $jit, , $after, $then, $off, $stopped]] = outcome(['opcache.jit' => 'off'], ['tracing']);
check($before === INTERRUPTS && $jit === false && str_starts_with($after, NONE) && $then === true && $off === $after, "switched on: $before; $after; $off");
check(str_contains($stopped, NONE), 'switched on: the sampler says ' . json_encode($stopped));
[[$before, , , $after, , , $stopped], $run] = outcome(['opcache.jit' => 'off', 'strobe.instrument' => '1'], ['function']);
check($before === INTERRUPTS && $after === CALLS && $stopped === true && $run->with('burn') > 0, "switched on, at calls: $before; $after; " . json_encode($run->stacks()));
echo "done\n";
?>
--EXPECT--
done
