<?php
// yield from: a tree is walked by nested generators.
namespace Corpus\GeneratorFrom;

function tree(int $depth, int $value): ?array
{
	return $depth === 0 ? null : [tree($depth - 1, $value * 2), $value, tree($depth - 1, $value * 2 + 1)];
}

function walk(?array $node): \Generator
{
	if (!$node)
		return 0;
	$left = yield from walk($node[0]);
	yield $node[1] => $left;
	$right = yield from walk($node[2]);
	return $left + $right + 1;
}

return ['71889 63', function () {
	$tree = tree(6, 1);
	$walk = walk($tree);
	$sum = $i = 0;
	foreach ($walk as $value => $left)
		$sum += $value * ++$i + $left;
	return $sum . ' ' . $walk->getReturn();
}];
