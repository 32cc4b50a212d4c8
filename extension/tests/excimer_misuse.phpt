--TEST--
excimer: invalid arguments and uninitialized objects cause errors
--INI--
strobe.compat=excimer
--FILE--
<?php
require __DIR__ . '/excimer.inc';

$p = new ExcimerProfiler();
$t = new ExcimerTimer();
$log = $p->getLog();
foreach ([
	fn() => $p->setPeriod(),
	fn() => $p->setPeriod('x'),
	fn() => $p->setPeriod(null),
	fn() => $p->setPeriod('0.25'),
	fn() => $p->setPeriod(NAN),
	fn() => $p->start(),
	fn() => $p->setPeriod(-1) ?? $p->start(),
	fn() => $p->setPeriod(INF) ?? $p->start() ?? $p->stop(),
	fn() => $p->setPeriod(1, 2),
	fn() => $p->setEventType(2),
	fn() => $p->setEventType('cpu'),
	fn() => $p->setEventType(EXCIMER_CPU),
	fn() => $p->setMaxDepth(1.5),
	fn() => $p->setMaxDepth(-3),
	fn() => $p->setFlushCallback('no_such_function', 1),
	fn() => $p->setFlushCallback(['ExcimerTimer', 'none'], 1),
	fn() => $p->setFlushCallback('strlen'),
	fn() => $p->setFlushCallback('strlen', 'many'),
	fn() => $p->clearFlushCallback(1, 2),
	fn() => $p->start(1),
	fn() => $p->flush(1),
	fn() => $t->setEventType(-1),
	fn() => $t->setInterval([]),
	fn() => $t->setCallback(5),
	fn() => $t->setCallback('A::b'),
	fn() => $t->setCallback(null),
	fn() => $t->start(),
	fn() => $t->getTime(),
	fn() => excimer_set_timeout('strlen'),
	fn() => excimer_set_timeout('strlen', 'soon'),
	fn() => excimer_set_timeout('strlen', 0),
	fn() => excimer_set_timeout('no_such_function', 0.001),
	fn() => excimer_set_timeout('strlen', -5)->getTime(),
	fn() => new ExcimerLog(),
	fn() => new ExcimerLogEntry(),
	fn() => $log[0],
	fn() => $log['first'],
	fn() => isset($log['first']),
	fn() => $log['0'],
	fn() => $log[0.5],
	fn() => $log[0] = 1,
	fn() => $log[] = 1,
	fn() => $log->offsetSet(),
	fn() => $log->offsetUnset(0),
	fn() => $log->offsetGet(),
	fn() => $log->formatCollapsed(1, 2),
	fn() => $log->count(1),
	function () use ($log) { foreach ($log as &$entry); },
	fn() => clone $p,
	fn() => clone $t,
	fn() => clone $log,
	fn() => serialize([$p, $t, $log]),
	fn() => get_class(unserialize(serialize($p))->getLog()),
	fn() => count(unserialize(serialize($log))),
	fn() => unserialize('O:15:"ExcimerLogEntry":0:{}')->getTrace(),
	fn() => (new ReflectionClass('ExcimerLogEntry'))->newInstanceWithoutConstructor()->getTimestamp(),
] as $f)
	echo told($f), "\n";
var_dump($p, $t);

ini_set('excimer.default_max_depth', '0');
echo told(fn() => profiled(fn() => work(0.001), 1)[0]->getEventCount() > 0), "\n";
(new ReflectionMethod('ExcimerLog', '__construct'))->invoke($log);
?>
--EXPECTF--
ArgumentCountError: ExcimerProfiler::setPeriod() expects exactly 1 argument, 0 given
TypeError: ExcimerProfiler::setPeriod(): Argument #1 ($period) must be of type float, string given
deprecated: ExcimerProfiler::setPeriod(): Passing null to parameter #1 ($period) of type float is deprecated; null
null
null
warning: ExcimerProfiler::start(): Unable to start timer with a value of zero duration and period; null
warning: ExcimerProfiler::start(): Unable to start timer with a value of zero duration and period; null
null
ArgumentCountError: ExcimerProfiler::setPeriod() expects exactly 1 argument, 2 given
warning: ExcimerProfiler::setEventType(): Invalid event type; null
TypeError: ExcimerProfiler::setEventType(): Argument #1 ($event_type) must be of type int, string given
null
deprecated: Implicit conversion from float 1.5 to int loses precision; null
null
warning: ExcimerProfiler::setFlushCallback(): flush callback is not callable: function "no_such_function" not found or invalid function name; null
warning: ExcimerProfiler::setFlushCallback(): flush callback is not callable: class ExcimerTimer does not have a method "none"; null
ArgumentCountError: ExcimerProfiler::setFlushCallback() expects exactly 2 arguments, 1 given
TypeError: ExcimerProfiler::setFlushCallback(): Argument #2 ($max_samples) must be of type int, string given
null
ArgumentCountError: ExcimerProfiler::start() expects exactly 0 arguments, 1 given
ArgumentCountError: ExcimerProfiler::flush() expects exactly 0 arguments, 1 given
warning: ExcimerTimer::setEventType(): Invalid event type; null
TypeError: ExcimerTimer::setInterval(): Argument #1 ($interval) must be of type float, array given
warning: ExcimerTimer::setCallback(): timer callback is not callable: no array or string given; null
warning: ExcimerTimer::setCallback(): timer callback is not callable: class "A" not found; null
null
warning: ExcimerTimer::start(): Unable to start timer with a value of zero duration and period; null
0
ArgumentCountError: excimer_set_timeout() expects exactly 2 arguments, 1 given
TypeError: excimer_set_timeout(): Argument #2 ($interval) must be of type float, string given
warning: excimer_set_timeout(): Unable to start timer with a value of zero duration and period; ExcimerTimer
warning: excimer_set_timeout(): timer callback is not callable: function "no_such_function" not found or invalid function name; null
warning: excimer_set_timeout(): Unable to start timer with a value of zero duration and period; 0
Error: Call to private ExcimerLog::__construct() from global scope
Error: Call to private ExcimerLogEntry::__construct() from global scope
null
TypeError: ExcimerLog::offsetGet(): Argument #1 ($offset) must be of type int, string given
TypeError: ExcimerLog::offsetExists(): Argument #1 ($offset) must be of type int, string given
null
deprecated: Implicit conversion from float 0.5 to int loses precision; null
warning: ExcimerLog::offsetSet(): ExcimerLog cannot be modified; 1
warning: ExcimerLog::offsetSet(): ExcimerLog cannot be modified; 1
warning: ExcimerLog::offsetSet(): ExcimerLog cannot be modified; null
warning: ExcimerLog::offsetUnset(): ExcimerLog cannot be modified; null
ArgumentCountError: ExcimerLog::offsetGet() expects exactly 1 argument, 0 given
""
ArgumentCountError: ExcimerLog::count() expects exactly 0 arguments, 1 given
RuntimeException: An iterator cannot be used with foreach by reference
Error: Trying to clone an uncloneable object of class ExcimerProfiler
Error: Trying to clone an uncloneable object of class ExcimerTimer
Error: Trying to clone an uncloneable object of class ExcimerLog
"a:3:{i:0;O:15:\"ExcimerProfiler\":0:{}i:1;O:12:\"ExcimerTimer\":0:{}i:2;O:10:\"ExcimerLog\":0:{}}"
"ExcimerLog"
0
[]
0
object(ExcimerProfiler)#%d (0) {
}
object(ExcimerTimer)#%d (0) {
}
true

Fatal error: ExcimerLog::__construct(): ExcimerLog cannot be constructed directly in %s on line %d
