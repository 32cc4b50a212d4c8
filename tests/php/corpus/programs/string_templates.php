<?php
// Interpolation, heredocs and sprintf with values of every kind.
namespace Corpus\StringTemplates;

class Item
{
	public array $tags = ['a' => 'x', 'b' => 'y'];

	public function __construct(public string $name, public float $price) {}
}

function render(Item $item, int $i): string
{
	$fn = strtoupper(...);
	$text = <<<HTML
		<li id="i$i" class="{$item->tags['a']} $item->name">
			{$item->name}: {$item->tags['b']} \$$item->price {$fn($item->name)}
		</li>
		HTML;
	return $text . sprintf('%05d|%-6s|%.3f', $i, $item->name, $item->price);
}

return ['5749debdae65046e748434293e925097', function () {
	$html = '';
	for ($i = 0; $i < 60; $i++)
		$html .= render(new Item('n' . $i % 7, $i / 4), $i);
	return md5($html);
}];
