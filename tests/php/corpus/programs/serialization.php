<?php
// serialize, unserialize, json and var_export of nested values, with __serialize.
namespace Corpus\Serialization;

use function count, json_decode, json_encode, md5, range, serialize, unserialize, var_export;

class Thing
{
	public ?Thing $next = null;
	private float $weight = 1.25;

	public function __construct(public string $name) {}

	public function __serialize(): array
	{
		return ['n' => $this->name, 'w' => $this->weight, 'x' => $this->next];
	}

	public function __unserialize(array $data): void
	{
		['n' => $this->name, 'w' => $this->weight, 'x' => $this->next] = $data;
		$this->weight *= 2;
	}

	public function total(): float
	{
		return $this->weight + ($this->next?->total() ?? 0);
	}
}

class Point implements \JsonSerializable
{
	public function __construct(private int $x, private int $y) {}

	public function jsonSerialize(): array
	{
		return ['x' => $this->x, 'sum' => $this->x + $this->y];
	}
}

return ['534e0f85dac9798cb52ddcae68c11a27', function () {
	$text = '';
	for ($i = 1; $i < 12; $i++) {
		$first = $thing = new Thing("t$i");
		for ($k = 0; $k < $i; $k++)
			$thing = $thing->next = new Thing("$i.$k");
		$copy = unserialize(serialize([$first, 'list' => range(0, $i)]));
		$text .= $copy[0]->total() . count($copy['list']);
		$text .= json_encode([new Point($i, 2), 'n' => [null, true, $i / 2]]) . var_export(json_decode('{"a":[1,{"b":' . $i . '}]}', true), true);
	}
	return md5($text);
}];
