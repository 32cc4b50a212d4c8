<?php
/* For sampled_shares.php: what a trace adds to a call, in ns, measured by loops that call an empty function, an empty method and
 * a cheap internal function.
 *
 * The part "inside" of the added cost falls into the function's own time: that is its own time in a trace less the one that it has without.
 * The latter is the time of the loop without a trace times the function's share of samples; which so defines, for both, where in the
 * middle of PHP's handling of a call the function begins and ends. "outside" is the rest, which falls into the own time of the
 * caller. "path" is what the first call by its way from the root takes more.
 */
namespace Strobe\Bench\Calibrate;

const CALLS = 20000, ROUNDS = 40, DEPTH = 12, SAMPLED_SECONDS = 1.0;

/* Declared at run time, since otherwise opcache would inline it into its callers. */
if (DEPTH) {
	function nothing(): void
	{
	}
}

class Thing
{
	public function nothing(): void
	{
	}
}

function call_function(): void
{
	for ($i = 0; $i < CALLS; $i++)
		nothing();
}

function call_method(): void
{
	$thing = new Thing();
	for ($i = 0; $i < CALLS; $i++)
		$thing->nothing();
}

function call_internal(): void
{
	for ($i = 0; $i < CALLS; $i++)
		\abs(1);
}

/* Two to the power of DEPTH + 1 calls, each by a different path. */
function tree(): void
{
	left(DEPTH);
}

function left(int $depth): void
{
	if ($depth) {
		left($depth - 1);
		right($depth - 1);
	}
}

function right(int $depth): void
{
	if ($depth) {
		left($depth - 1);
		right($depth - 1);
	}
}

function elapsed(callable $f): float
{
	$at = hrtime(true);
	$f();
	return hrtime(true) - $at;
}

/* The smallest time of a run of $f: alone, traced, and traced as the second of two, when all paths are known; and the
 * self time of $leaf per call in the latter. */
function least(string $f, ?string $leaf, string $clock): array
{
	$metrics = $clock === 'cpu' ? \Strobe\WALL | \Strobe\CPU : \Strobe\WALL;
	$alone = $first = $known = $own = INF;
	for ($i = 0; $i < ROUNDS; $i++) {
		$alone = min($alone, elapsed($f));
		$trace = \Strobe\Trace::start($metrics);
		$first = min($first, elapsed($f));
		$trace->stop();
		$trace = \Strobe\Trace::start($metrics);
		elapsed($f);
		$known = min($known, elapsed($f));
		foreach ($trace->stop()->getFunctions() as $row)
			if ($row['name'] === $leaf)
				$own = min($own, $row['exclusive'][$clock . '_ns'] / $row['calls']);
	}
	return [$alone, $first, $known, $own];
}

/* Returns the share of $leaf in the time of $f. */
function share(string $f, string $leaf): float
{
	$sampler = new \Strobe\Sampler(0.0002);
	$sampler->start();
	for ($end = hrtime(true) + SAMPLED_SECONDS * 1e9; hrtime(true) < $end;)
		$f();
	$of = 0;
	foreach (($profile = $sampler->stop())->getFunctions() as $row)
		if ($row['name'] === $leaf)
			$of += $row['exclusive']['samples'];
	return $of / $profile->getTotals()['samples'];
}

function cost(string $f, string $leaf, string $clock): array
{
	$f = __NAMESPACE__ . '\\' . $f;
	[$alone, , $known, $own] = least($f, $leaf, $clock);
	$inside = $own - share($f, $leaf) * $alone / CALLS;
	return ['inside' => $inside, 'outside' => ($known - $alone) / CALLS - $inside];
}

function all(string $clock): array
{
	[, $first, $known] = least(__NAMESPACE__ . '\tree', null, $clock);
	return ['function' => cost('call_function', __NAMESPACE__ . '\nothing', $clock),
		'method' => cost('call_method', Thing::class . '::nothing', $clock),
		'internal' => cost('call_internal', 'abs', $clock),
		'path' => ($first - $known) / 2 ** (DEPTH + 1)];
}
