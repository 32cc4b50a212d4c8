<?php
$values = [];
for ($k = 0; $k < 40; $k++) {
	$values[$k] = $k * $i;
	if (!array_key_exists($k - 1, $values))
		$values[$k] += 1000;
	while ($values[$k] > 50)
		$values[$k] -= 17;
}
return array_sum($values);
