<?php
// Named arguments and defaults, in calls, constructors and call_user_func_array().
namespace Corpus\CallNamed;

use function array_keys, call_user_func_array, implode, md5, str_pad;

function box(int $width, int $height = 2, int $depth = 3, string ...$notes): string
{
	return ($width * 100 + $height * 10 + $depth) . implode('', array_keys($notes)) . implode('', $notes);
}

class Point
{
	public function __construct(public int $x = 0, public int $y = 0, public ?int $z = null) {}
}

return ['ae868b4a7763cd4f485b691a2c29fd5a', function () {
	$text = '';
	for ($i = 0; $i < 60; $i++) {
		$text .= box($i, depth: $i + 1) . box(height: 4, width: $i) . box(1, 2, 3, note: "n$i");
		$point = new Point(y: $i, z: $i % 3 ?: null);
		$text .= $point->x . $point->y . ($point->z ?? 'none');
		$text .= call_user_func_array(box(...), ['depth' => 1, 'width' => $i]) . str_pad(string: "$i", length: 4, pad_type: STR_PAD_LEFT);
	}
	return md5($text);
}];
