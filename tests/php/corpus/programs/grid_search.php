<?php
// A breadth-first search in a maze, with a queue of coordinates.
namespace Corpus\GridSearch;

use function array_map, array_shift, count, strrev;

const MAZE = ['..#.......', '.##.####.#', '....#..#..', '.####.##.#', '......#...', '.####.#.#.', '....#...#.', '###.#####.', '..........'];

function shortest(array $maze): int
{
	$queue = [[0, 0, 0]];
	$seen = ['0,0' => true];
	while ($queue) {
		[$x, $y, $d] = array_shift($queue);
		if ($y === count($maze) - 1 && $x === 9)
			return $d;
		foreach ([[1, 0], [0, 1], [-1, 0], [0, -1]] as [$dx, $dy]) {
			$nx = $x + $dx;
			$ny = $y + $dy;
			if (($maze[$ny][$nx] ?? '#') === '#' || $nx < 0 || isset($seen["$nx,$ny"]))
				continue;
			$seen["$nx,$ny"] = true;
			$queue[] = [$nx, $ny, $d + 1];
		}
	}
	return -1;
}

return ['17 19', fn () => shortest(MAZE) . ' ' . shortest(array_map(strrev(...), MAZE))];
