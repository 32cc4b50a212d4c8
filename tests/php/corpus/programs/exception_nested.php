<?php
// try in try, catch by type, finally that runs in order.
namespace Corpus\ExceptionNested;

use function implode, md5;

class Low extends \RuntimeException {}
class High extends Low {}

function risky(int $i): int
{
	if ($i % 7 === 0)
		throw new High("h$i", $i);
	if ($i % 3 === 0)
		throw new Low("l$i", $i);
	if ($i % 5 === 0)
		throw new \LogicException("x$i", $i);
	return $i;
}

function guarded(int $i, array &$order): int
{
	try {
		try {
			return risky($i);
		} catch (High $e) {
			$order[] = $e->getMessage();
			throw new Low('wrapped', $e->getCode() * 2, $e);
		} finally {
			$order[] = $i;
		}
	} catch (Low | \LogicException $e) {
		return $e->getCode() + ($e->getPrevious()?->getCode() ?? 0);
	} finally {
		$order[] = 'f';
	}
}

return ['217068 b29c357049a59ad9fa702a1b9367500d', function () {
	$order = [];
	$sum = 0;
	for ($i = 1; $i < 80; $i++)
		$sum += guarded($i, $order) * $i;
	return $sum . ' ' . md5(implode(',', $order));
}];
