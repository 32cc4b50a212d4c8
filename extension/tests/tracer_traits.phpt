--TEST--
A trait's method is a separate function in each class that uses it, in traces and xhprof arrays
--INI--
strobe.compat=xhprof
--FILE--
<?php
require __DIR__ . '/tracer.inc';
require __DIR__ . '/edges.inc';

trait Saves {
	public function save() { return strrev(static::class); }
	public static function make(): static { return new static; }
	public function counted() { static $n = 0; return ++$n; }
	public function filtered() { return array_map(function ($x) { return ucfirst($x); }, ['a', 'b']); }
	public function each() { yield 1; yield 2; }
	abstract public function name(): string;
	private function hidden() { return 1; }
	public function reveal() { return $this->hidden(); }
}
trait Wraps { use Saves; public function wrapped() { return $this->save(); } }
class User { use Saves; public function name(): string { return 'user'; } }
class Invoice { use Saves; public function name(): string { return 'invoice'; } }
class Order { use Saves { save as persist; save as protected store; hidden as public shown; } public function name(): string { return 'order'; } public function both() { $this->store(); $this->save(); } }
class Wrapped { use Wraps; public function name(): string { return 'wrapped'; } }
class Admin extends User {}
class Owner extends User { use Saves; public function name(): string { return parent::name(); } }
enum Level { case Low; case High; use Saves { make as private; } public function name(): string { return 'level'; } }
trait Helps { public static function help() { return 1; } }
class Tool { use Helps; }

function nothing() {}

function go()
{
	for ($i = 0; $i < 3; $i++)
		User::make()->save();
	for ($i = 0; $i < 50; $i++)
		Invoice::make()->save();
	(new Order)->persist();
	(new Order)->persist();
	(new Order)->both();
	(new Order)->shown();
	(new Wrapped)->wrapped();
	for ($i = 0; $i < 5; $i++)
		(new Admin)->save();
	(new Owner)->save();
	(new Owner)->name();
	Level::Low->save();
	Level::High->save();
	foreach ([new Invoice, new User, new Invoice] as $o) {
		$o->counted();
		$o->filtered();
		$o->reveal();
		foreach ($o->each() as $x);
		$o->name();
	}
	Tool::help();
	/* Alternating callers of one line, and callables by name. */
	foreach (['User', 'Invoice', 'User', 'Admin'] as $class)
		call_user_func([new $class, 'save']);
	array_map([new Invoice, 'save'], []);
	array_map((new Invoice)->save(...), [1, 2]);
	array_map((new User)->save(...), [1]);
	array_map((new Order)->persist(...), [1]);
	array_map((new Order)->save(...), [1]);
	$anonymous = new class { use Helps; };
	$anonymous::help();
}

$expected = ['User::make' => 3, 'User::save' => 3 + 5 + 3 + 1, 'Invoice::make' => 50, 'Invoice::save' => 50 + 1 + 2,
	'Order::persist' => 3, 'Order::both' => 1, 'Order::store' => 1, 'Order::save' => 2, 'Order::shown' => 1,
	'Wrapped::wrapped' => 1, 'Wrapped::save' => 1, 'Owner::save' => 1, 'Owner::name' => 1, 'Level::save' => 2,
	'User::counted' => 1, 'Invoice::counted' => 2, 'User::filtered' => 1, 'Invoice::filtered' => 2,
	'User::reveal' => 1, 'User::hidden' => 1, 'Invoice::reveal' => 2, 'Invoice::hidden' => 2,
	'User::each' => 3, 'Invoice::each' => 6, 'User::name' => 2, 'Invoice::name' => 2, 'Tool::help' => 1, 'class@anonymous::help' => 1];
$internal = ['strrev', 'array_map', 'ucfirst', 'call_user_func', 'Strobe\Trace::stop', 'xhprof_disable', 'go', 'main()'];

foreach (['first', 'second'] as $time) {
	$trace = Strobe\Trace::start(Strobe\COUNTS, ['files' => false]);
	go();
	$p = $trace->stop();
	$got = [];
	foreach ($p->getFunctions() as $f)
		if (!in_array($f['name'], $internal) && !str_contains($f['name'], '{closure'))
			$got[$f['name']] = ($got[$f['name']] ?? 0) + $f['calls'];
	check_calls("a trace, the $time", $got, $expected);
	$paths = paths($p, 'calls');
	check(($paths['go;Wrapped::wrapped;Wrapped::save;strrev'] ?? 0) === 1 && ($paths['go;Order::both;Order::store;strrev'] ?? 0) === 1, 'what they call is below them');
	$edges = $p->toXhprof();
	$closures = [];
	foreach (array_keys($edges) as $edge)
		if (preg_match('~^array_map==>(\w+)::\{closure\}/\d+-\d+$~', $edge, $m))
			$closures[$m[1]] = $edges[$edge]['ct'];
	check_calls('closures of a trait', $closures, ['User' => 2, 'Invoice' => 4]);
}

xhprof_enable();
go();
$edges = xhprof_disable();
check_edges($edges);
$got = [];
foreach ($edges as $edge => $values)
	if (str_contains($edge, '==>') && !in_array($callee = explode('==>', $edge)[1], $internal) && !str_contains($callee, '{closure'))
		$got[$callee] = ($got[$callee] ?? 0) + $values['ct'];
check_calls("xhprof's array", $got, $expected);
check($edges['User::save==>strrev']['ct'] === 12 && $edges['Invoice::save==>strrev']['ct'] === 53, 'edges');

/* The other way round: what is called first gets no calls of the others. */
$got = calls_of(function () { for ($i = 0; $i < 4; $i++) { (new Order)->save(); (new Order)->persist(); (new Invoice)->save(); (new User)->save(); } });
check_calls('in turns', $got, ['{closure}' => 1] + array_merge(...array_map(fn($f) => ["{closure};$f" => 4, "{closure};$f;strrev" => 4], ['Order::save', 'Order::persist', 'Invoice::save', 'User::save'])));
echo "done\n";
?>
--EXPECT--
done
