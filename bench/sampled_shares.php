<?php
/* For sampled_shares.py: prepended to each request of a site (auto_prepend_file). STROBE_SHARES is "WHAT CLOCK PERIOD", where WHAT
 * says what to do with this request:
 *
 *	plain		only measure what it takes
 *	sample		take a sample each PERIOD seconds of CLOCK, which is "wall" or "cpu"
 *	trace		trace its calls exactly, by CLOCK
 *	calibrate	run none of it; measure what tracing takes per call (sampled_shares_calibrate.php)
 *
 * When the last function that others have registered for the shutdown has run, the result is written to the file STROBE_SHARES_TO
 * as JSON: "cpu", CPU time of the process in ns; "rows", by function: of samples [samples], of traces [own time in ns, calls, calls of
 * PHP functions by it, calls of internal functions by it, call paths that end right below it, whether it is internal].
 */
namespace Strobe\Bench;

const OWN = 0, CALLS = 1, CALLED = 2, CALLED_INTERNAL = 3, PATHS = 4, INTERNAL = 5;

function sampled_rows(\Strobe\Profile $profile): array
{
	$rows = [];
	foreach ($profile->getFunctions() as $f)
		if ($f['exclusive']['samples'])
			$rows[$f['name']] = [($rows[$f['name']][0] ?? 0) + $f['exclusive']['samples']];
	return $rows;
}

/* Functions with the same name count as one here. */
function traced_rows(\Strobe\Profile $profile, string $time): array
{
	$rows = [];
	foreach ($profile->getFunctions() as $f) {
		/* As written in folded stacks. */
		$name = strtr($f['name'], ";\n", ':?');
		$rows[$name] ??= [0, 0, 0, 0, 0, $f['file'] === null && $f['name'] !== 'main()'];
		$rows[$name][OWN] += $f['exclusive'][$time];
		$rows[$name][CALLS] += $f['calls'];
	}
	foreach (explode("\n", rtrim($profile->toFolded('calls'))) as $line) {
		[$path, $calls] = preg_split('/ (?=\d+$)/', $line);
		$frames = explode(';', $path);
		$function = array_pop($frames);
		$caller = array_pop($frames);
		if (!isset($rows[$caller]))
			continue;
		$rows[$caller][($rows[$function][INTERNAL] ?? false) ? CALLED_INTERNAL : CALLED] += (int)$calls;
		$rows[$caller][PATHS]++;
	}
	return $rows;
}

function cpu_ns(): int
{
	$u = getrusage();
	return ($u['ru_utime.tv_sec'] + $u['ru_stime.tv_sec']) * 1_000_000_000
		+ ($u['ru_utime.tv_usec'] + $u['ru_stime.tv_usec']) * 1000;
}

function start(string $what, string $clock, string $period): \Strobe\Sampler|\Strobe\Trace|null
{
	if ($what === 'trace')
		return \Strobe\Trace::start($clock === 'cpu' ? \Strobe\WALL | \Strobe\CPU : \Strobe\WALL);
	if ($what !== 'sample')
		return null;
	$sampler = new \Strobe\Sampler((float)$period, $clock);
	$sampler->start();
	return $sampler;
}

function begin(): void
{
	[$what, $clock, $period] = explode(' ', $_SERVER['STROBE_SHARES']);
	if ($what === 'calibrate') {
		require __DIR__ . '/sampled_shares_calibrate.php';
		write(Calibrate\all($clock));
		exit;
	}
	$profiler = null;
	$cpu = 0;
	$end = function () use ($what, $clock, &$profiler, &$cpu) {
		$cpu = cpu_ns() - $cpu;
		$profile = $profiler?->stop();
		ini_set('memory_limit', -1);
		$rows = match ($what) {
			'sample' => sampled_rows($profile),
			'trace' => traced_rows($profile, $clock . '_ns'),
			default => [],
		};
		write(['cpu' => $cpu, 'rows' => (object)$rows]);
	};
	/* A function registered during the shutdown runs after those of the program. */
	register_shutdown_function(function () use ($end) { register_shutdown_function($end); });
	$profiler = start($what, $clock, $period);
	$cpu = cpu_ns();
}

function write(array $result): void
{
	$to = $_SERVER['STROBE_SHARES_TO'];
	file_put_contents("$to.new", json_encode($result, JSON_INVALID_UTF8_SUBSTITUTE));
	rename("$to.new", $to);
}

begin();
