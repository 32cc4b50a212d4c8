<?php
// Readonly properties, constructor promotion and "withers".
namespace Corpus\ObjectReadonly;

use function array_sum, count;

final class Money
{
	public function __construct(public readonly int $amount, public readonly string $currency = 'EUR', public readonly array $notes = []) {}

	public function plus(int $amount): self
	{
		return new self($this->amount + $amount, $this->currency, [...$this->notes, $amount % 5]);
	}
}

return ['2978 12 EUR', function () {
	$refused = $sum = 0;
	for ($i = 0; $i < 12; $i++) {
		$money = new Money($i);
		for ($k = 0; $k < 8; $k++)
			$money = $money->plus($k * $i);
		try {
			$money->amount = 1;
		} catch (\Error) {
			$refused++;
		}
		$sum += $money->amount + array_sum($money->notes) * count($money->notes);
	}
	return "$sum $refused {$money->currency}";
}];
