--TEST--
Functions a fiber runs while it is destroyed are below the call that destroys it, as in traces
--EXTENSIONS--
sockets
--FILE--
<?php
require __DIR__ . '/strobe.inc';
eval(BUSY . BUSY_TICKED);

function finally_() { busy_ticked(0.05); }
function suspended(?Fiber $inside = null) { try { Fiber::suspend(); } finally { unset($inside); finally_(); } }
function begun(...$arguments) { $f = new Fiber('suspended'); $f->start(...$arguments); return $f; }
function kills() { $f = begun(); unset($f); }
function kills_both() { $f = begun(begun()); unset($f); }
function leaves() { $f = begun(); }
function collects() { $f = begun(); $f = [&$f, $f]; unset($f); gc_collect_cycles(); }
function throws() { $f = new Fiber(function () { try { Fiber::suspend(); } finally { finally_(); throw new Exception; } }); $f->start(); try { unset($f); } catch (Exception) {} }
function in_fiber() { $f = new Fiber('kills'); $f->start(); }
function resumes() { $f = new Fiber(function () { try { Fiber::suspend(); } finally { $g = new Fiber('finally_'); $g->start(); } }); $f->start(); unset($f); }

/* Above finally_(). A function's variables are destroyed once it has returned. Before PHP 8.4 no fiber can be started
 * there. */
$expected = ['kills' => ['kills;suspended'], 'kills_both' => ['kills_both;suspended', 'kills_both;suspended;suspended'], 'leaves' => ['suspended'],
	'collects' => ['collects;gc_collect_cycles;suspended'], 'throws' => ['throws;{closure'], 'in_fiber' => ['in_fiber;Fiber::start;kills;suspended'],
	'resumes' => ['resumes;{closure;Fiber::start']];
if (PHP_VERSION_ID < 80400)
	unset($expected['resumes']);
foreach ($expected as $f => $paths) {
	$s = new Strobe\Sampler(0.001);
	$s->start();
	$f();
	$stacks = explode("\n", trim($s->stop()->toFolded('samples')));
	$seen = [];
	foreach ($stacks as $stack)
		if (preg_match('~^([^;]*);(.*);finally_[; ]~', $stack, $m)) {
			check(basename($m[1]) === 'fibers_destroyed.php', "$f: $stack");
			$seen[preg_replace('~\{closure[^;]*~', '{closure', $m[2])] = true;
		} else {
			check(!str_contains($stack, 'finally_'), "$f: a stack without root: $stack");
		}
	$seen = array_keys($seen);
	sort($seen);
	check($seen === $paths, "$f: " . json_encode($seen));
}

// As the program ends there is no call that destroys them. An exit or fatal error in such a fiber ends nothing else.
$code = '<?php ' . BUSY . '
$f = new Fiber(function () { try { Fiber::suspend(); } finally { busy(0.05); echo "finally "; ENDS } });
$f->start();
register_shutdown_function(function () { busy(0.05); echo "shutdown "; });
class D { function __destruct() { busy(0.05); echo "destroyed "; } }
$d = new D;
function ends() { global $f; $f = null; }
CALL
';
foreach (['' => 'shutdown destroyed finally ', 'exit;' => 'finally shutdown destroyed ', 'eval("class A {} class A {}");' => 'finally shutdown '] as $ends => $out) {
	$run = profile(strtr($code, ['ENDS' => $ends, 'CALL' => $ends ? 'ends();' : '']));
	$said = preg_replace('~\n.*\n~s', '', $run->stdout);
	check($said === $out && $run->status === (str_starts_with($ends, 'eval') ? 255 : 0), "$ends: $run->status $run->stdout $run->stderr");
	foreach ($run->stacks() as $stack => $n)
		if (str_contains($stack, ';busy') && $ends)
			check(preg_match('~^[^;]*script\.php;ends;\{closure[^;]*;busy|^\{closure[^;]*;busy|^D::__destruct;busy~', $stack) === 1, "$ends: $stack");
}
echo "done\n";
?>
--EXPECT--
done
