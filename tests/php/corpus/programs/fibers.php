<?php
// Fibers that take turns, give values both ways, throw, and run generators inside.
namespace Corpus\Fibers;

use function json_encode, md5;

function pause(int $x): int
{
	return \Fiber::suspend($x) + 1;
}

function numbers(int $n): \Generator
{
	for ($i = 0; $i < $n; $i++)
		yield pause($i);
}

return ['c796fee1c62ceed772c6ad50e314a7e2', function () {
	$log = [];
	$fibers = [];
	for ($f = 0; $f < 4; $f++)
		$fibers[$f] = new \Fiber(function (int $n) use (&$log, $f): string {
			$sum = 0;
			foreach (numbers($n) as $x)
				$sum += $x * ($f + 1);
			try {
				\Fiber::suspend($sum);
			} catch (\LogicException $e) {
				$log[] = $e->getMessage();
			} finally {
				$log[] = $sum;
			}
			return "fiber $f";
		});
	$values = [];
	foreach ($fibers as $f => $fiber)
		$values[$f] = $fiber->start(6 + $f);
	for ($turn = 0; $fibers; $turn++) {
		if ($turn > 1000)
			return 'the fibers never end';
		foreach ($fibers as $f => $fiber) {
			$values[$f] = $turn > 8 ? $fiber->throw(new \LogicException("t$turn")) : $fiber->resume($values[$f] * 2 + $turn);
			if ($fiber->isTerminated()) {
				$log[] = $fiber->getReturn();
				unset($fibers[$f]);
			}
			if ($turn === 5 + $f && isset($fibers[$f])) {
				$fiber->throw(new \LogicException("end $f"));
				unset($fibers[$f]);
			}
		}
	}
	return md5(json_encode([$log, $values]));
}];
