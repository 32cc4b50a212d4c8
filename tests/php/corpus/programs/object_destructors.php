<?php
// Destructors, by scope, by unset and by overwriting, and cycles for the collector.
namespace Corpus\ObjectDestructors;

use function gc_collect_cycles;

class Guard
{
	public ?Guard $other = null;

	public function __construct(private Log $log, private int $id) {}

	public function __destruct()
	{
		$this->log->ends = ($this->log->ends * 31 + $this->id) % 1000003;
		$this->log->count++;
	}
}

class Log
{
	public int $ends = 7;
	public int $count = 0;
}

function scope(Log $log, int $i): int
{
	$a = new Guard($log, $i);
	$b = new Guard($log, $i + 1);
	$a = $b;
	if ($i % 4 === 0)
		return $i;
	unset($b);
	new Guard($log, $i + 2);
	return -$i;
}

return ['-930 175 918506', function () {
	$log = new Log;
	$sum = 0;
	for ($i = 0; $i < 60; $i++)
		$sum += scope($log, $i);
	for ($i = 0; $i < 5; $i++) {
		$a = new Guard($log, 1);
		$a->other = new Guard($log, 1);
		$a->other->other = $a;
	}
	$a = null;
	gc_collect_cycles();
	return "$sum $log->count " . $log->ends;
}];
