<?php
// Sleeps below each kind of frame that there is; record_image writes the memory of the walk.
namespace App;

class Cart {
	public function total(): void {
		array_map(function ($x) {
			foreach ($this->lines() as $line)
				;
		}, [1]);
	}

	private function lines() {
		yield from $this->inner();
	}

	private function inner() {
		self::wait();
		yield 1;
	}

	private static function wait(): void {
		echo "ready\n";
		flush();
		sleep(1000);
	}
}

function checkout() {
	(new Cart)->total();
}

checkout();
