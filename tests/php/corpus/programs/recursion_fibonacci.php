<?php
// Recursion that calls itself twice.
namespace Corpus\RecursionFibonacci;

function fib(int $n): int
{
	return $n < 2 ? $n : fib($n - 1) + fib($n - 2);
}

return [233089, fn () => fib(13) * 1000 + fib(11)];
