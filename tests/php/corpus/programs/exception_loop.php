<?php
// Exceptions that are caught and thrown again in loops, with continue, break and return in finally's reach.
namespace Corpus\ExceptionLoop;

use function strlen;

function attempts(int $n): int
{
	$tries = $done = 0;
	for ($i = 0; $i < $n; $i++) {
		for ($attempt = 1; $attempt <= 4; $attempt++) {
			try {
				$tries++;
				try {
					if (($i + $attempt) % 4)
						throw new \DomainException('again');
					$done += $i;
					break;
				} catch (\DomainException $e) {
					if ($attempt === 3)
						throw new \OverflowException('too often', $i, $e);
					continue;
				}
			} catch (\OverflowException $e) {
				$done -= $e->getCode();
				continue 2;
			} finally {
				$tries += 2;
			}
		}
	}
	return $tries * 100000 + $done;
}

function overridden(int $i): string
{
	while (true) {
		try {
			try {
				if ($i & 1)
					throw new \Exception('lost');
				if ($i < 4)
					continue;
			} finally {
				if ($i > 3)
					return "kept $i";
				$i += 2;
			}
		} catch (\Exception $e) {
			$i += strlen($e->getMessage());
		}
	}
}

return ['40500930 kept 4 kept 7 kept 8', fn () => attempts(60) . ' ' . overridden(0) . ' ' . overridden(1) . ' ' . overridden(8)];
