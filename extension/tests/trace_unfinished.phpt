--TEST--
A Strobe\Trace left open by an exception, exit() or the end of the request becomes a run marked unfinished; a destroyed one creates none
--EXTENSIONS--
sockets
--FILE--
<?php
require __DIR__ . '/strobe.inc';

$ini = ['strobe.mode' => 'off', 'strobe.instrument' => '1'];

/* The marks of runs: exception, or "-"; and whether work() is in them. */
function marks(Run $run): string
{
	return implode(' ', array_map(fn($m) => $m['labels']['source'] . ($m['labels']['unfinished'] ?? '') . ':' . ($m['labels']['exception'] ?? '-') . ':' . (run_calls($m)['work'] ?? 0),
		$run->runs()));
}

$code = '<?php
class Broken extends DomainException {}
function work() { return strrev("x"); }
function traced(callable $end) { $t = Strobe\Trace::start(); work(); $end(); }
';
$cases = [
	'an exception that is caught above' => ['try { traced(fn() => throw new Broken); } catch (Broken) { echo "caught"; }', 'caught', 'unfinished1:Broken:1'],
	'an exception that nobody catches' => ['traced(fn() => throw new Broken);', null, 'unfinished1:Broken:1'],
	'in the main script' => ['$t = Strobe\Trace::start(); work(); throw new Broken;', null, 'unfinished1:-:1'],
	'exit' => ['traced(fn() => exit("x"));', 'x', 'unfinished1:-:1'],
	'the end of the request' => ['$t = Strobe\Trace::start(); work();', '', 'unfinished1:-:1'],
	'a fatal error' => ['traced(fn() => eval("class A {} class A {}"));', null, 'unfinished1:-:1'],
	'no memory' => ['function deep() { return deep(); } traced("deep");', null, 'unfinished1:-:1'],
	'inside of each other' => ['function outer() { $t = Strobe\Trace::start(); traced(fn() => throw new Broken); } try { outer(); } catch (Broken) {}', '', 'unfinished1:Broken:1 unfinished1:Broken:1'],
	'in a generator' => ['function gen() { $t = Strobe\Trace::start(); work(); yield 1; throw new Broken; } try { foreach (gen() as $x); } catch (Broken) {}', '', 'unfinished1:Broken:1'],
	'dropped' => ['function f() { $t = Strobe\Trace::start(); work(); } f(); $t = Strobe\Trace::start(); unset($t);', '', ''],
	'dropped in a fiber that is destroyed' => ['$f = new Fiber(fn() => traced(fn() => Fiber::suspend())); $f->start(); unset($f);', '', ''],
	'stopped' => ['try { traced(fn() => 0); $t = Strobe\Trace::start(); work(); $t->stop()->save("mine"); throw new Broken; } catch (Broken) {}', '', 'mine:-:1'],
	'stopped by finally' => ['function f() { $t = Strobe\Trace::start(); try { work(); throw new Broken; } finally { $t->stop()->save("mine"); } } try { f(); } catch (Broken) {}', '', 'mine:-:1'],
];
if (getenv('USE_ZEND_ALLOC') === '0')
	unset($cases['no memory']);	// which PHP's allocator would count
foreach ($cases as $what => [$body, $stdout, $expected]) {
	$run = profile($code . $body, $ini + ['memory_limit' => '16M']);
	check(marks($run) === $expected, "$what: " . marks($run));
	check($stdout === null ? $run->status === 255 : $run->stdout === $stdout && $run->status === 0, "$what: $run->status $run->stdout$run->stderr");
}
// It has the labels that held, and the attributes.
$run = profile($code . 'Strobe\set_attribute("user", 7); try { Strobe\with_labels(["job" => "j"], fn() => traced(fn() => throw new Broken)); } catch (Broken) {}', $ini);
$l = $run->runs()[0]['labels'];
check($l['job'] === 'j' && $l['user'] === '7', json_encode($l));
// Nobody is there to take it: the program goes on.
$run = profile($code . 'try { traced(fn() => throw new Broken); } catch (Broken) { echo "caught"; }', ['strobe.socket' => '/nowhere'] + $ini);
check($run->stdout === 'caught' && $run->status === 0, $run->stdout . $run->stderr);
echo "done\n";
?>
--EXPECT--
done
