<?php
// Sleeps in a fiber that another one resumed, in a generator that waits for it.
function nap() {
	echo "ready\n";
	flush();
	sleep(1000);
}

class Job {
	public function run(): void {
		Fiber::suspend();
		nap();
	}

	public function steps() {
		$fiber = new Fiber([$this, 'run']);
		$fiber->start();
		yield 1;
		$fiber->resume();
	}
}

$outer = new Fiber(function () {
	foreach ((new Job)->steps() as $step)
		;
});
$outer->start();
