<?php
// Bodies that attract each other: floats in properties of objects in arrays.
namespace Corpus\Nbody;

use function count, number_format, sqrt;

final class Body
{
	public float $vx = 0.0;
	public float $vy = 0.0;

	public function __construct(public float $x, public float $y, public float $mass) {}
}

function advance(array $bodies, float $dt): void
{
	for ($i = 0, $n = count($bodies); $i < $n; $i++) {
		$a = $bodies[$i];
		for ($j = $i + 1; $j < $n; $j++) {
			$b = $bodies[$j];
			$dx = $a->x - $b->x;
			$dy = $a->y - $b->y;
			$d2 = $dx * $dx + $dy * $dy + 0.01;
			$mag = $dt / ($d2 * sqrt($d2));
			$a->vx -= $dx * $b->mass * $mag;
			$a->vy -= $dy * $b->mass * $mag;
			$b->vx += $dx * $a->mass * $mag;
			$b->vy += $dy * $a->mass * $mag;
		}
	}
	foreach ($bodies as $body) {
		$body->x += $dt * $body->vx;
		$body->y += $dt * $body->vy;
	}
}

return ['-5.634459812', function () {
	$bodies = [new Body(0, 0, 10), new Body(1, 0, 1), new Body(0, 2, 0.5), new Body(-3, 1, 0.1)];
	for ($i = 0; $i < 20; $i++)
		advance($bodies, 0.01);
	$sum = 0.0;
	foreach ($bodies as $b)
		$sum += $b->x * 3 + $b->y * 5 + $b->vx * 7 + $b->vy;
	return number_format($sum, 9);
}];
