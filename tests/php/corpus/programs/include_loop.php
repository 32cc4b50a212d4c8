<?php
// A file that is included in a loop, whose functions are declared once and whose value is different each time.
namespace Corpus\IncludeLoop;

use function array_sum, count, max;

return ['9273 941', function () {
	$all = [];
	for ($i = 0; $i < 15; $i++) {
		$config = include __DIR__ . '/parts/config.php';
		$all[] = $config['total'] + count($config['list']);
		$all[] = ($config['scale'])($i);
	}
	return array_sum($all) . ' ' . max($all);
}];
