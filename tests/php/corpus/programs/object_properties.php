<?php
// Properties, typed and not, counted up, appended to, and nested.
namespace Corpus\ObjectProperties;

use function count, json_encode, ksort, md5, round;

class Account
{
	public int $cents = 0;
	public ?float $rate = null;
	public string $log = '';
	public $untyped = [];
	protected array $moves = [];

	public function move(int $by): static
	{
		$this->cents += $by;
		$this->rate ??= 0.5;
		$this->rate *= 1.001;
		$this->log .= $by & 1 ? '+' : '-';
		$this->untyped[$by % 3] = ($this->untyped[$by % 3] ?? 0) + 1;
		$this->moves[] = $by;
		return $this;
	}

	public function sum(): int
	{
		$sum = 0;
		for ($i = 0, $n = count($this->moves); $i < $n; $i++)
			$sum += $this->moves[$i];
		return $sum + $this->cents;
	}
}

return ['14399 68cbb8268e5eac86fb68ca5a26db3353 [40,40,40]0.563714624', function () {
	$account = new Account;
	for ($i = 0; $i < 120; $i++)
		$account->move($i)->cents++;
	ksort($account->untyped);
	try {
		$account->cents = 'many';
	} catch (\TypeError) {
		$account->cents--;
	}
	return $account->sum() . ' ' . md5($account->log) . ' ' . json_encode($account->untyped) . round($account->rate, 9);
}];
