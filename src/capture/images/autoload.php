<?php
// Sleeps in an autoloader, and in a magic method, that a method's own code calls: PHP 7.4 puts empty frames in between.
function nap() {
	echo "ready\n";
	flush();
	sleep(1000);
}

class Magic {
	public function __get($name) {
		nap();
	}
}

class Deep extends Magic {
	public $a = 1, $b = 2, $c = 3, $d = 4, $e = 5, $f = 6, $g = 7, $h = 8;

	public function make() {
		return new Missing;
	}

	public function nothing() {
		return $this->nothing;
	}
}

spl_autoload_register(function ($class) {
	(new Deep)->nothing();
});
(new Deep)->make();
