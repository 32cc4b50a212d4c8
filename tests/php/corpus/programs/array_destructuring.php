<?php
// Lists and keys taken apart, in foreach too, and swapped.
namespace Corpus\ArrayDestructuring;

function fibonacci(int $n): int
{
	[$a, $b] = [0, 1];
	while ($n-- > 0)
		[$a, $b] = [$b, ($a + $b) % 1000007];
	return $a;
}

return ['37180 21 142282', function () {
	$rows = [];
	for ($i = 0; $i < 40; $i++)
		$rows[] = ['id' => $i, 'at' => [$i * 2, [$i * 3, $i * 5]], 'name' => "row$i"];
	$sum = 0;
	foreach ($rows as ['id' => $id, 'at' => [$x, [, $z]]])
		$sum += $id * $x - $z;
	foreach ($rows as &$row)
		[$row['at'][0], $row['at'][1][0]] = [$row['at'][1][0], $row['at'][0]];
	unset($row);
	['at' => [0 => $first]] = $rows[7];
	return $sum . ' ' . $first . ' ' . fibonacci(300);
}];
