<?php

/**
 * Strobe: sampling and exact profiles of PHP. This file is for editors and for reading; the extension has the code.
 *
 * Metrics, as names of values: "calls" (of a trace), "samples" (of a sampling profile), "wall_ns", "cpu_ns" and
 * "off_cpu_ns" (elapsed time, CPU time of the PHP thread, and what is between them: waiting), "memory_bytes" and
 * "peak_memory_bytes" (growth of memory_get_usage() and memory_get_peak_usage()), "allocations", "frees" (counts of the
 * allocator) and "allocated_bytes". A profile has those that it was taken with.
 */

namespace Strobe;

/** Calls are counted, nothing else is measured: the cheapest trace. */
const COUNTS = 0;

/** Elapsed time of each call. */
const WALL = 1;

/** CPU time of each call; with it comes the time off the CPU. Includes WALL. */
const CPU = 2;

/** Memory that each call has taken and not given back. */
const MEMORY = 4;

/** How far each call has raised the peak of memory. */
const PEAK_MEMORY = 8;

/** Allocations, frees and allocated bytes of each call. */
const ALLOCATIONS = 16;

/** Elapsed time by samples, each millisecond, instead of two clock reads a call. Beside any other metric, and where no thread can be started, it means WALL. */
const SAMPLED_WALL = 32;

/** Version of the extension. */
const VERSION = '0.1.0';

/**
 * Sets a label of the running request: of its samples and of the runs that come of it. A label that has the key already,
 * from strobe.labels or from before, is replaced. Labels make series: use few different values per key, never ids of
 * users or requests.
 *
 * @param string $key 1 to 64 letters, digits and "_", not beginning with a digit; "source", "id", "url", "name", "host"
 *     and "sapi" are taken
 * @param string $value cut to 255 bytes; control characters become "?"
 * @throws \ValueError if the key cannot be one
 * @throws Exception if there are 32 labels already
 */
function add_label(string $key, string $value): void {}

/**
 * The labels that a run of this request would have now.
 *
 * @return array<string, string>
 */
function labels(): array {}

/** Whether this request is sampled for the daemon (strobe.mode=sample). */
function is_sampling(): bool {}

/** Whether this request is traced as a whole (strobe.trace_rate, strobe.trigger_secret) and will be a run. */
function is_tracing(): bool {}

/** Whether Trace::start() can work: whether PHP was started with strobe.instrument=1, or with a setting that implies it. */
function can_trace(): bool {}

/**
 * Whether this request is sampled and its samples arrive, and if not, why, as phpinfo() says it. Connects to nothing.
 *
 * "reason" is null if all is well, else one word, and "message" the sentence for people: "mode" (strobe.mode is off), "rate"
 * (not chosen by strobe.request_rate), "jit" (PHP's JIT makes it unsafe), "preloading", "no_thread", "no_memory",
 * "no_request" (it has ended); or, of a request that is sampled, "no_daemon", "refused" (no permission to write to the
 * socket), "chroot" (the socket is not inside the pool's chroot), "socket_path" (too long), "socket_full" (the daemon is
 * too slow), "period" (longer than the request has run yet). There may be more some day.
 *
 * "problems" are sentences about settings that mean nothing.
 *
 * @return array{sampling: bool, reason: ?string, message: ?string, tracing: bool, can_trace: bool, socket: ?string, connected: bool, problems: list<string>}
 */
function status(): array {}

/** What this extension throws beside \ValueError and \TypeError. */
class Exception extends \RuntimeException {}

/**
 * An exact call tree of what runs between start() and stop(). Any number may run at once, stopped in any order. One that
 * is destroyed while it runs is dropped, as are all at the end of the request.
 */
final class Trace
{
    private function __construct() {}

    /**
     * Starts a trace. What the running function calls from now on is in it, right below "main()".
     *
     * @param int $metrics a sum of WALL, CPU, MEMORY, PEAK_MEMORY, ALLOCATIONS, SAMPLED_WALL, or COUNTS
     * @param array{internals?: bool, files?: bool, loads?: bool, include?: string|list<string>, exclude?: string|list<string>} $options
     *     internals: functions that are not written in PHP, too (default true); files: the file scope of scripts, include
     *     and eval (default true); loads: compilation of scripts (default false); include: only functions with these
     *     names; exclude: none with these. A name is one as profiles show it ("strlen", "App\Cart::price", the path of a
     *     script; a closure is "App\Cart::{closure}" or "App\{closure}"), letters of either case are equal, and * stands
     *     for any characters: "Twig\*", "App\Cart::*". What is left out is transparent: what it calls is called by its
     *     caller, and its own time is its caller's
     * @throws \ValueError for unknown metrics and options, and empty names
     * @throws \TypeError for options of another type
     * @throws Exception if PHP was started without strobe.instrument=1, after the end of the request, or without memory
     */
    public static function start(int $metrics = WALL | CPU | MEMORY | PEAK_MEMORY, array $options = []): Trace {}

    /**
     * Ends the trace. Calls that are still running, such as the one that stops it, count until now.
     *
     * @throws Exception if it was stopped before
     */
    public function stop(): Profile {}

    /** Whether it has not been stopped. */
    public function isRunning(): bool {}
}

/**
 * A sampling profile of what runs between start() and stop(), with stacks down to functions that are not written in
 * PHP. It may be started again after a stop. One that is destroyed while it runs is dropped, as are all at the end of the
 * request.
 */
final class Sampler
{
    /**
     * @param float $period seconds between samples, 0.0001 to 3600
     * @param string $clock "wall": waiting counts; "cpu": only work counts
     * @param int $maxDepth frames kept of a stack, 4 to 8192: of a deeper one root and leaf, and "[elided]" between
     * @throws \ValueError if one of them is not as said here
     * @throws Exception if it is called again while the sampler runs
     */
    public function __construct(float $period = 0.01, string $clock = 'wall', int $maxDepth = 512) {}

    /**
     * Starts anew. The first sample comes after a random share of a period.
     *
     * @throws Exception if it runs already, after the end of the request, if there is no memory or no thread for it, or if
     *     sampling is not safe: with PHP's JIT compiler on, it needs strobe.instrument=1
     */
    public function start(): void {}

    /**
     * Ends it. The profile has "samples" and, as samples times period, "wall_ns" or "cpu_ns".
     *
     * @throws Exception if it does not run
     */
    public function stop(): Profile {}

    /** Whether it runs. */
    public function isRunning(): bool {}
}

/**
 * A finished profile: a tree of calls with values. It may be kept as long as you like within the request.
 *
 * In text formats a stack has 512 frames at most; what lies deeper is summed up as one frame "[elided]". Totals and
 * getFunctions() are exact at any depth.
 */
final class Profile implements \Countable, \JsonSerializable
{
    private function __construct() {}

    /** The number of different call paths in it. */
    public function count(): int {}

    /**
     * The metrics it has, with their units: "nanoseconds", "bytes" or "count".
     *
     * @return array<string, string>
     */
    public function getMetrics(): array {}

    /** When it began, in seconds since 1970. */
    public function getStartTime(): float {}

    /** Seconds between start and stop. */
    public function getDuration(): float {}

    /** All calls (or samples) that found no room in the tree (strobe.trace_max_nodes) and are summed up as "[folded]", at any depth. */
    public function getFoldedCalls(): int {}

    /**
     * What everything took together, by metric.
     *
     * @return array<string, int>
     */
    public function getTotals(): array {}

    /**
     * One row per function; the one that took most time itself is the first.
     *
     * `inclusive` holds what a function and all that it called took (recursion counts once), `exclusive` what it took
     * itself; both by metric. `file` is null and `line` 0 where there is none; `calls` is null in a sampling profile.
     *
     * @return list<array{name: string, file: ?string, line: int, calls: ?int, inclusive: array<string, int>, exclusive: array<string, int>}>
     */
    public function getFunctions(): array {}

    /**
     * Folded stacks, "main();a;b 1200" per line, as flamegraph.pl and `strobe flamegraph` read them. Values that are
     * not above 0 are left out.
     *
     * @param string|null $metric null: "wall_ns" if there is one, else "cpu_ns", "samples", "calls"
     * @throws \ValueError if the profile has no such metric
     */
    public function toFolded(?string $metric = null): string {}

    /**
     * A file of https://www.speedscope.app, ready for json_encode(). Values that are not above 0 are left out.
     *
     * @param string|null $metric as of toFolded()
     * @return array<string, mixed>
     * @throws \ValueError if the profile has no such metric
     */
    public function toSpeedscope(?string $metric = null): array {}

    /**
     * The array of xhprof, for the many tools that read it: "caller==>callee" and "main()", with "ct" (calls; samples in a
     * sampling profile), "wt" and "cpu" in microseconds, "mu", "pmu", "mem.na", "mem.nf", "mem.aa", as far as they were
     * measured. Files are "run_init::dir/file.php", compilation is "load::dir/file.php", a call of a function within itself is
     * "f==>f@1", a closure "{closure}::dir/file.php/3-5", without its last line in a sampling profile. A pair without a call
     * ("Fiber::resume==>job") counts how often a fiber went on there.
     *
     * @return array<string, array<string, int>>
     * @throws Exception if there is no memory for it
     */
    public function toXhprof(): array {}

    /** A gzipped profile.proto with all metrics, as `pprof` and `go tool pprof` read it. */
    public function toPprof(): string {}

    /** toSpeedscope() of the default metric: json_encode($profile) is a file for speedscope. */
    public function jsonSerialize(): array {}

    /**
     * Sends the profile to the daemon, which keeps it as a run of this request. Never waits.
     *
     * @param string $source what kind of runs it belongs to: 1 to 64 letters, digits, ".", "_" or "-", not "." or ".."
     * @param string|null $name free text for people, cut to 1,024 bytes
     * @param array<string, string|int|float|bool|null> $labels beside those of the request, in place of equal ones; keys as of
     *     add_label(), but "host" and "sapi" are allowed
     * @return string the id of the run, 32 hexadecimal digits
     * @throws \ValueError if source or labels are not as said here
     * @throws \TypeError if a label is no scalar
     * @throws Exception if it can certainly not be delivered: no daemon, or one that does not keep up; more than 64 MB
     */
    public function save(string $source, ?string $name = null, array $labels = []): string {}
}
