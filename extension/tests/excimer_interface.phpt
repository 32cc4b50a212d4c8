--TEST--
excimer: the module, its classes, methods, parameters, constants and setting
--INI--
strobe.compat=excimer
--FILE--
<?php
$m = new ReflectionExtension('excimer');
echo $m->getName(), ' ', $m->getVersion(), ' ', json_encode([$m->getConstants(), $m->getINIEntries(), $m->getDependencies()]), "\n";
var_dump(extension_loaded('excimer'), phpversion('excimer'));

function signature(ReflectionFunctionAbstract $f): string
{
	$parameters = array_map(fn($p) => ($p->isOptional() ? '?' : '') . $p->getType() . '$' . $p->getName(), $f->getParameters());
	$type = $f->hasReturnType() ? ': ' . $f->getReturnType() : '';
	$type .= $f->hasTentativeReturnType() ? ': (' . $f->getTentativeReturnType() . ')' : '';
	$words = $f instanceof ReflectionMethod ? implode(' ', Reflection::getModifierNames($f->getModifiers())) . ' ' : '';
	return $words . $f->getName() . '(' . implode(', ', $parameters) . ")$type\n";
}
foreach ($m->getFunctions() as $f)
	echo signature($f);
foreach ($m->getClasses() as $class) {
	echo "\n", $class->getName(), ' ', json_encode([$class->getModifiers(), $class->getInterfaceNames(), $class->isInstantiable(),
		$class->isIterable(), count($class->getProperties()), count($class->getConstants())]), "\n";
	foreach ($class->getMethods() as $f)
		echo signature($f);
}

ob_start();
phpinfo(INFO_MODULES);
preg_match('/^excimer\n.*?\nexcimer\.\S+ => .*?\n/ms', ob_get_clean(), $info);
echo "\n", $info[0];
?>
--EXPECT--
excimer 1.2.5 [{"EXCIMER_REAL":0,"EXCIMER_CPU":1},{"excimer.default_max_depth":"1000"},[]]
bool(true)
string(5) "1.2.5"
excimer_set_timeout($callback, $interval)

ExcimerProfiler [0,[],true,false,0,0]
public setPeriod($period)
public setEventType($event_type)
public setMaxDepth($max_depth)
public setFlushCallback($callback, $max_samples)
public clearFlushCallback()
public start()
public stop()
public getLog(): ExcimerLog
public flush()

ExcimerLog [0,["Iterator","Traversable","Countable","ArrayAccess"],false,true,0,0]
final private __construct()
public formatCollapsed()
public getSpeedscopeData()
public aggregateByFunction(): array
public getEventCount()
public current(): (mixed)
public key(): (mixed)
public next(): (void)
public rewind(): (void)
public valid(): (bool)
public count(): (int)
public offsetExists($offset): (bool)
public offsetGet($offset): (mixed)
public offsetSet($offset, $value): (void)
public offsetUnset($offset): (void)

ExcimerLogEntry [0,[],false,false,0,0]
final private __construct()
public getTimestamp()
public getEventCount()
public getTrace()

ExcimerTimer [0,[],true,false,0,0]
public setEventType($event_type)
public setInterval($interval)
public setPeriod($period)
public setCallback($callback)
public start()
public stop()
public getTime()

excimer

excimer support => enabled
excimer version => 1.2.5

Directive => Local Value => Master Value
excimer.default_max_depth => 1000 => 1000
