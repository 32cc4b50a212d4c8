<?php
// Bitwise operators: xorshift, a CRC, bits counted one by one.
namespace Corpus\Bits;

use function crc32, ord, strlen;

function xorshift(int $n): int
{
	$x = 2463534242;
	for ($i = 0; $i < $n; $i++) {
		$x ^= ($x << 13) & 0xffffffff;
		$x ^= $x >> 17;
		$x ^= ($x << 5) & 0xffffffff;
	}
	return $x;
}

function crc(string $s): int
{
	$crc = 0xffffffff;
	for ($i = 0, $n = strlen($s); $i < $n; $i++) {
		$crc ^= ord($s[$i]);
		for ($k = 0; $k < 8; $k++)
			$crc = $crc & 1 ? ($crc >> 1) ^ 0xedb88320 : $crc >> 1;
	}
	return ~$crc & 0xffffffff;
}

function ones(int $x): int
{
	for ($n = 0; $x; $n++)
		$x &= $x - 1;
	return $n;
}

return ['3437980524 15', function () {
	$crc = crc('The quick brown fox jumps over the lazy dog');
	if ($crc !== crc32('The quick brown fox jumps over the lazy dog'))
		return "a wrong CRC, $crc";
	return xorshift(400) . ' ' . ones($crc);
}];
