<?php
// ?-> chains that end early, and the arguments that are then not evaluated.
namespace Corpus\CallNullsafe;

use function array_map, implode;

class Person
{
	public ?Person $boss = null;
	public int $asked = 0;

	public function boss(int $n): ?Person
	{
		$this->asked += $n;
		return $this->boss;
	}
}

function next_number(int &$n): int
{
	return ++$n;
}

return ['104 8968 1260,1296,1236,1177,583', function () {
	$chain = [];
	for ($i = 0; $i < 5; $i++) {
		$chain[$i] = new Person;
		$chain[$i]->boss = $chain[$i - 1] ?? null;
	}
	$numbers = $found = 0;
	for ($i = 0; $i < 80; $i++) {
		$person = $chain[$i % 7] ?? null;
		$found += $person?->boss(next_number($numbers))?->boss(next_number($numbers))?->boss?->asked ?? 1;
		$person?->boss?->boss(2);
	}
	return "$numbers $found " . implode(',', array_map(fn ($p) => $p->asked, $chain));
}];
