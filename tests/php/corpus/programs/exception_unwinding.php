<?php
// Exceptions from deep recursion, through frames that hold values, calls half made and foreach.
namespace Corpus\ExceptionUnwinding;

use function array_sum, count, max, str_repeat, strlen;

class Found extends \Exception
{
	public function __construct(public readonly array $path)
	{
		parent::__construct();
	}
}

function search(array $tree, int $wanted, array $path): int
{
	$seen = 0;
	foreach ($tree as $key => $sub) {
		if ($key === $wanted)
			throw new Found([...$path, $key]);
		if ($sub)
			$seen += max(search($sub, $wanted, [...$path, $key]), strlen(str_repeat('x', $key % 7)));
		else
			$seen++;
	}
	return $seen;
}

function tree(int $depth, int &$id): array
{
	$nodes = [];
	for ($i = 0; $i < 2 + ($depth & 1); $i++) {
		$key = $id++;
		$nodes[$key] = $depth ? tree($depth - 1, $id) : [];
	}
	return $nodes;
}

return ['14398 351', function () {
	$id = 1;
	$tree = tree(4, $id);
	$sum = $missing = 0;
	for ($wanted = 5; $wanted < 160; $wanted += 11) {
		try {
			$missing += search($tree, $wanted, []);
		} catch (Found $found) {
			$sum += array_sum($found->path) * count($found->path);
		}
	}
	return "$sum $missing";
}];
