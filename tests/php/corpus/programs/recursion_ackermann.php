<?php
// Recursion in the argument of recursion, and recursion without types.
namespace Corpus\RecursionAckermann;

function ackermann($m, $n)
{
	if ($m == 0)
		return $n + 1;
	if ($n == 0)
		return ackermann($m - 1, 1);
	return ackermann($m - 1, ackermann($m, $n - 1));
}

function tak(int $x, int $y, int $z): int
{
	return $y >= $x ? $z : tak(tak($x - 1, $y, $z), tak($y - 1, $z, $x), tak($z - 1, $x, $y));
}

return ['17 4', fn () => ackermann(2, 7) . ' ' . tak(7, 4, 2)];
