<?php
/*
 * usage: php drive.php WAY SECONDS PROGRAM...
 *
 * Runs each program again and again for so many seconds and compares each result with the known one. Prints
 * "begin NAME" and "end NAME ROUNDS SAMPLES" for each; of a trace SAMPLES are the calls. At the first wrong result it
 * prints "wrong NAME what" and stops, because nothing can be trusted from there on.
 *
 * WAY says what goes on meanwhile: "plain" (nothing that is started here), "sampler" (a Strobe\Sampler at 10 kHz),
 * "traced" (a Strobe\Trace with all metrics), "excimer" (an ExcimerProfiler and an ExcimerTimer at 1 ms).
 * With SECONDS "record" it runs each program once and prints its result as PHP code.
 *
 * A program (in programs/) returns its known result and a closure; programs/parts/ holds what programs include.
 */
namespace Corpus;

error_reporting(E_ALL);
set_error_handler(function (int $level, string $message, string $file, int $line) {
	if (!(error_reporting() & $level))
		return false;
	throw new \ErrorException($message, 0, $level, $file, $line);
});

/* Returns the number of rounds. */
function repeat(\Closure $work, mixed $expected, float $seconds): int
{
	$end = hrtime(true) + (int)($seconds * 1e9);
	$rounds = 0;
	do {
		$result = $work();
		$rounds++;
		if ($result !== $expected)
			throw new \UnexpectedValueException("round $rounds: " . shown($result) . ' instead of ' . shown($expected));
	} while (hrtime(true) < $end);
	return $rounds;
}

function shown(mixed $value): string
{
	$text = is_scalar($value) ? var_export($value, true) : get_debug_type($value);
	return strtr(strlen($text) > 100 ? substr($text, 0, 100) . '…' : $text, "\n", ' ');
}

/* Starts what the way wants; returns a function that stops it and returns the number of samples or calls. Where PHP
 * cannot be sampled safely, a sampler refuses to start and a timer warns: the programs run all the same. */
function meanwhile(string $way): \Closure
{
	switch ($way) {
		case 'plain':
			$before = taken();
			return fn () => taken() - $before;
		case 'sampler':
			$sampler = new \Strobe\Sampler(0.0001);
			try {
				$sampler->start();
			} catch (\Strobe\Exception) {
				return fn () => 0;
			}
			return fn () => $sampler->stop()->getTotals()['samples'];
		case 'traced':
			$trace = \Strobe\Trace::start(\Strobe\WALL | \Strobe\CPU | \Strobe\MEMORY | \Strobe\PEAK_MEMORY | \Strobe\ALLOCATIONS);
			return fn () => $trace->stop()->getTotals()['calls'];
		case 'excimer':
			$profiler = new \ExcimerProfiler;
			$profiler->setPeriod(0.001);
			$profiler->setEventType(EXCIMER_REAL);
			$ticks = 0;
			$timer = new \ExcimerTimer;
			$timer->setPeriod(0.001);
			$timer->setEventType(EXCIMER_REAL);
			$timer->setCallback(function () use (&$ticks) { $ticks++; });
			@$profiler->start();
			@$timer->start();
			return function () use ($profiler, $timer, &$ticks) {
				$profiler->stop();
				$timer->stop();
				return count($profiler->flush()) + $ticks;
			};
	}
	throw new \ValueError("unknown way '$way'");
}

/* The number of samples that this process has taken, as phpinfo() says. */
function taken(): int
{
	if (!extension_loaded('strobe'))
		return 0;
	ob_start();
	(new \ReflectionExtension('strobe'))->info();
	return (int)(preg_match('/^Samples taken => (\d+)/m', ob_get_clean(), $m) ? $m[1] : 0);
}

[, $way, $seconds] = $argv;
foreach (array_slice($argv, 3) as $name) {
	echo "begin $name\n";
	try {
		[$expected, $work] = include __DIR__ . "/programs/$name.php";
		if ($seconds === 'record') {
			echo var_export($work(), true), "\n";
			exit;
		}
		$stop = meanwhile($way);
		$rounds = repeat($work, $expected, (float)$seconds);
		echo "end $name $rounds ", $stop(), "\n";
	} catch (\Throwable $e) {
		$what = $e instanceof \UnexpectedValueException ? $e->getMessage() : get_class($e) . ": {$e->getMessage()}, line {$e->getLine()}";
		echo "wrong $name ", strtr($what, "\n", ' '), "\n";
		exit(1);
	}
}
