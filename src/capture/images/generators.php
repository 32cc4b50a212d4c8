<?php
// Sleeps in a generator that goes on after the one that it delegated to has ended.
function inner() {
	yield 1;
}

function middle() {
	yield from inner();
	nap();
	yield 2;
}

function outer() {
	yield from middle();
}

function nap() {
	echo "ready\n";
	flush();
	sleep(1000);
}

foreach (outer() as $x)
	;
