<?php
// Exceptions that are thrown into generators, and finally in them.
namespace Corpus\GeneratorExceptions;

use function implode, md5;

class Skip extends \Exception {}

function worker(array &$log): \Generator
{
	try {
		for ($i = 0; ; $i++) {
			if ($i > 10000)
				return 'never stopped';
			try {
				$log[] = yield $i;
			} catch (Skip $e) {
				$log[] = -$e->getCode();
				$i += 10;
			} finally {
				$log[] = $i;
			}
		}
	} finally {
		$log[] = 'end';
	}
}

return ['bfc3e615db5d7308efabfed8bf07db90', function () {
	$log = [];
	for ($round = 0; $round < 4; $round++) {
		$worker = worker($log);
		$at = $worker->current();
		while ($at < 100)
			$at = $at % 3 ? $worker->throw(new Skip('', $at)) : $worker->send($at * 2);
		unset($worker);
	}
	return md5(implode(' ', $log));
}];
