<?php
// Work in the file scope of a script that is included again and again.
namespace Corpus\LoopFileScope;

return [6582, function () {
	$sum = 0;
	for ($i = 0; $i < 6; $i++)
		$sum += include __DIR__ . '/parts/file_scope.php';
	return $sum;
}];
