<?php

/**
 * Strobe: sampling and exact profiles of PHP. This file is for IDEs and as documentation; the extension implements it.
 *
 * Names of metrics: "calls" (of a trace), "samples" (of a sampling profile), "wall_ns", "cpu_ns" and
 * "off_cpu_ns" (elapsed time, CPU time of the PHP thread, and the difference: waiting), "memory_bytes" and
 * "peak_memory_bytes" (growth of memory_get_usage() and memory_get_peak_usage()), "allocations", "frees" (counts of the
 * allocator) and "allocated_bytes". A profile has those that it was recorded with.
 */

namespace Strobe;

/** Only counts calls: the cheapest trace. */
const COUNTS = 0;

/** Elapsed time of each call. */
const WALL = 1;

/** CPU time of each call, and time off the CPU. Includes WALL. */
const CPU = 2;

/** Memory that each call has allocated and not freed. */
const MEMORY = 4;

/** Growth of the peak memory usage by each call. */
const PEAK_MEMORY = 8;

/** Allocations, frees and allocated bytes of each call. */
const ALLOCATIONS = 16;

/** Elapsed time by samples, each millisecond, instead of two clock reads a call. Combined with any other metric, and where no
 * thread can be started, it means WALL. */
const SAMPLED_WALL = 32;

/**
 * Version of the extension, such as "1.2.3". UNKNOWN, because php_strobe.h alone defines it.
 *
 * @var string
 * @cvalue PHP_STROBE_VERSION
 */
const VERSION = UNKNOWN;

/**
 * Sets a label of all samples taken and all runs created from now on, until the end of the request or of the
 * enclosing unit or with_labels() call. It replaces a label with the same key, whether from strobe.labels or set earlier.
 * Every combination of labels is a series: use few different values per key, never ids of users or requests; use
 * set_attribute() for those.
 *
 * Changing labels sends nothing and costs well below a microsecond: samples are grouped by the labels that applied, and sent
 * as usual. A sample that is due just when a label changes may get either value.
 *
 * @param string $key 1 to 64 letters, digits and "_", not beginning with a digit; "source", "id", "url", "name",
 *     "folded_calls", "uncharted_calls", "host" and "sapi" are reserved
 * @param string $value cut to 255 bytes; control characters become "?"
 * @throws \ValueError if the key is invalid
 * @throws Exception if there are 32 labels already
 */
function add_label(string $key, string $value): void {}

/**
 * Removes a label set by add_label(), with_labels() or a unit: the value from strobe.labels, if any, applies
 * again. Inside a unit or with_labels() it is removed until that ends.
 *
 * @return bool whether there was one
 */
function remove_label(string $key): bool {}

/**
 * Calls $f with these labels in addition to the current ones, and returns its result. Afterwards, also when it throws, the previous
 * labels are restored. Inside a fiber the labels apply only while that fiber runs, or one that was started meanwhile.
 *
 * @param array<string, string|int|float|bool|null> $labels as in add_label()
 * @throws \ValueError if a key is invalid
 * @throws \TypeError if a label is not a scalar
 * @throws Exception if there would be more than 32 labels
 */
function with_labels(array $labels, callable $f): mixed {}

/**
 * Names the current work, such as by its route: sets the label "entry" of the current unit, or else of the request,
 * from now on, and of its run.
 *
 * @throws \ValueError if it is empty
 */
function set_entry(string $name): void {}

/**
 * The labels that a run of the current unit, or else of this request, would have now.
 *
 * @return array<string, string>
 */
function labels(): array {}

/**
 * Sets an attribute of the runs created in the current unit, or else in this request: the id of a job, a user, a
 * distributed trace. It is never a label of samples, so it may have any number of values. It has no effect if there is no
 * run. In a run it replaces a label with the same key.
 *
 * @param string $key as in add_label()
 * @param string|int|float|bool $value cut to 255 bytes; control characters become "?"
 * @throws \ValueError if the key is invalid
 * @throws \TypeError if the value is not a scalar
 * @throws Exception if there are 24 attributes already
 */
function set_attribute(string $key, string|int|float|bool $value): void {}

/**
 * Traces the current unit, or else the request, from now on; the trace becomes a run of source "code". If it is already
 * traced at random, the trace covers it from its beginning, and $keep applies.
 *
 * @param string $keep a value of strobe.trace_keep, such as "slow:500ms,status:5xx,failed": keep the trace only then;
 *     empty: always
 * @return bool whether it is traced now: false if PHP was started without strobe.instrument=1, or without memory
 * @throws \ValueError if $keep is invalid
 */
function trace_request(string $keep = ''): bool {}

/**
 * Discards the trace of the current unit, or else of the request. A trace requested by
 * strobe.trigger_secret stays.
 *
 * @return bool whether there was one to discard
 */
function discard_trace(): bool {}

/** Sends the samples taken so far, which also happens once a second and at the end of the request and of each unit. Never blocks. */
function flush(): void {}

/** Whether the current work is sampled for the daemon (strobe.mode=sample, strobe.request_rate). */
function is_sampling(): bool {}

/** Whether the current unit, or else this request, is traced as a whole and becomes a run, unless strobe.trace_keep discards it. */
function is_tracing(): bool {}

/** Whether Trace::start() can work: whether PHP was started with strobe.instrument=1, or with a setting that implies it. */
function can_trace(): bool {}

/**
 * Whether this request is sampled and its samples arrive, and if not, why, as in phpinfo(). Makes no connection.
 *
 * "reason" is null if all is well, else one word, and "message" a sentence for people: "mode" (strobe.mode is off), "rate"
 * (not chosen by strobe.request_rate), "jit" (PHP's JIT makes it unsafe), "preloading", "no_thread", "no_memory",
 * "no_request" (it has ended); or, of a request that is sampled, "no_daemon", "refused" (no permission to write to the
 * socket), "chroot" (the socket is not inside the pool's chroot), "socket_path" (too long), "socket_full" (the daemon is
 * too slow), "period" (longer than the request has run yet). More may be added.
 *
 * "problems" are sentences about invalid settings.
 *
 * @return array{sampling: bool, reason: ?string, message: ?string, tracing: bool, can_trace: bool, socket: ?string, connected: bool, problems: list<string>}
 */
function status(): array {}

/** Thrown by this extension, beside \ValueError and \TypeError. */
class Exception extends \RuntimeException {}

/**
 * A unit of work inside a request: a job of a worker, a message, an iteration of a loop. It has a name, which is the label
 * "entry", labels of its own, and its own decisions about sampling and tracing, like a request. When it ends its samples are
 * sent and its trace becomes a run.
 *
 * A unit ends by end(), or when its object is destroyed: keep the object. Units may be nested; the end of one also ends the
 * labels of those that the same fiber has begun inside it. One begun in a fiber belongs to that fiber: its labels
 * and its trace cover only that fiber, and fibers that are started in it or resumed by it. A fiber that is started
 * while a unit runs is in that unit until the unit ends; other fibers are not. Units and labels that such a fiber has begun itself
 * continue then, without the labels of the unit.
 */
final class Unit
{
    private function __construct() {}

    /**
     * Begins a unit, with the current labels and its own.
     *
     * @param string $name its label "entry"
     * @param array<string, string|int|float|bool|null> $labels as in with_labels()
     * @param array{sample?: bool, trace?: bool, keep?: string} $options sample: whether it is sampled, if strobe.mode is
     *     "sample" (default: at random, strobe.request_rate); trace: whether it is traced (default: at random,
     *     strobe.trace_rate); keep: a value of strobe.trace_keep, in its place for this unit
     * @throws \ValueError if the name is empty, or labels or options are invalid
     * @throws \TypeError for labels that are not scalars, and options of another type
     * @throws Exception if there would be more than 32 labels, or after the end of the request
     */
    public static function begin(string $name, array $labels = [], array $options = []): Unit {}

    /**
     * Calls $f as a unit and returns its result. If it throws, the unit has failed.
     *
     * @param array<string, string|int|float|bool|null> $labels as in begin()
     * @param array{sample?: bool, trace?: bool, keep?: string} $options as in begin()
     */
    public static function run(string $name, callable $f, array $labels = [], array $options = []): mixed {}

    /**
     * Ends the unit. Has no effect if it has ended.
     *
     * @param bool $failed its run gets the label failed=1, and strobe.trace_keep=failed keeps it
     */
    public function end(bool $failed = false): void {}

    /** Whether it has not ended. */
    public function isRunning(): bool {}
}

/**
 * An exact call tree of the code that runs between start() and stop(). Any number may run at once, stopped in any order. One that is
 * destroyed while it runs is dropped; but if an exception or exit() destroys it, or it still runs when the request ends, it
 * becomes a run of source "unfinished" with the labels unfinished=1 and exception=CLASS.
 */
final class Trace
{
    private function __construct() {}

    /**
     * Starts a trace. It has all calls of the running function from now on, right below "main()".
     *
     * @param int $metrics a sum of WALL, CPU, MEMORY, PEAK_MEMORY, ALLOCATIONS, SAMPLED_WALL, or COUNTS
     * @param array{internals?: bool, files?: bool, loads?: bool, flame_chart?: bool, include?: string|list<string>, exclude?: string|list<string>} $options
     *     internals: functions that are not written in PHP, too (default true); files: the file scope of scripts, include
     *     and eval (default true); loads: compilation of scripts (default false); flame_chart: keep each call with its times, in
     *     the order of the calls, too (default false; strobe.trace_chart_calls limits how many); include: only functions with these
     *     names; exclude: none with these. Names are those shown in profiles ("strlen", "App\Cart::price", the path of a
     *     script; a closure is "App\Cart::{closure}" or "App\{closure}"), case-insensitive, and * matches
     *     any characters: "Twig\*", "App\Cart::*". An excluded function is transparent: its callees are
     *     called by its caller, and its own time is its caller's
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
 * A sampling profile of the code that runs between start() and stop(), with stacks down to functions that are not written in
 * PHP. It may be started again after a stop. One that is destroyed while it runs is dropped, as are all at the end of the
 * request.
 */
final class Sampler
{
    /**
     * @param float $period seconds between samples, 0.0001 to 3600
     * @param string $clock "wall": waiting counts; "cpu": only CPU time counts
     * @param int $maxDepth frames kept of a stack, 4 to 8192: deeper ones keep both ends, with "[elided]" between
     * @throws \ValueError if one of them is invalid
     * @throws Exception if it is called again while the sampler runs
     */
    public function __construct(float $period = 0.01, string $clock = 'wall', int $maxDepth = 512) {}

    /**
     * Starts, from zero. The first sample is taken after a random fraction of a period.
     *
     * @throws Exception if it is running already, after the end of the request, if there is no memory or no thread for it, or if
     *     sampling is not safe: with PHP's JIT compiler on, it needs strobe.instrument=1
     */
    public function start(): void {}

    /**
     * Stops. The profile has "samples" and, as samples times period, "wall_ns" or "cpu_ns".
     *
     * @throws Exception if it is not running
     */
    public function stop(): Profile {}

    /** Whether it runs. */
    public function isRunning(): bool {}
}

/**
 * A finished profile: a tree of calls with values. It may be kept as long as you like within the request.
 *
 * In text formats a stack has at most 512 frames; deeper ones are merged into one frame "[elided]". Totals and
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

    /** Start time, in seconds since 1970. */
    public function getStartTime(): float {}

    /** Seconds between start and stop. */
    public function getDuration(): float {}

    /** All calls (or samples) beyond the limit of the tree (strobe.trace_max_nodes), merged into "[folded]", at any depth. */
    public function getFoldedCalls(): int {}

    /**
     * With the option "flame_chart" of the trace: the calls in the tree but not in the flame chart, because of
     * strobe.trace_chart_calls. Null without that option.
     */
    public function getUnchartedCalls(): ?int {}

    /**
     * The totals by metric.
     *
     * @return array<string, int>
     */
    public function getTotals(): array {}

    /**
     * One row per function; the largest exclusive time first.
     *
     * `inclusive` holds the values of a function with its callees (recursion counts once), `exclusive` those
     * without; both by metric. `file` is null and `line` 0 where there is none; `calls` is null in a sampling profile.
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
     * A file of https://www.speedscope.app, ready for json_encode(). Values that are not above 0 are left out. If there is a
     * flame chart, "wall_ns" has its calls in order.
     *
     * @param string|null $metric as in toFolded()
     * @return array<string, mixed>
     * @throws \ValueError if the profile has no such metric
     */
    public function toSpeedscope(?string $metric = null): array {}

    /**
     * The array of xhprof, for the many tools that read it: "caller==>callee" and "main()", with "ct" (calls; samples in a
     * sampling profile), "wt" and "cpu" in microseconds, "mu", "pmu", "mem.na", "mem.nf", "mem.aa", if they were
     * measured. Files are "run_init::dir/file.php", compilation is "load::dir/file.php", a call of a function within itself is
     * "f==>f@1", a closure "{closure}::dir/file.php/3-5", without its last line in a sampling profile. A pair without a call
     * ("Fiber::resume==>job") counts how often a fiber was resumed there.
     *
     * @return array<string, array<string, int>>
     * @throws Exception without enough memory
     */
    public function toXhprof(): array {}

    /** A gzipped profile.proto with all metrics, as `pprof` and `go tool pprof` read it. */
    public function toPprof(): string {}

    /** toSpeedscope() of the default metric: json_encode($profile) is a file for speedscope. */
    public function jsonSerialize(): array {}

    /**
     * Sends the profile to the daemon, which keeps it as a run of this request. Never waits.
     *
     * @param string $source a namespace of runs: 1 to 64 letters, digits, ".", "_" or "-", not "." or ".."
     * @param string|null $name free text for people, cut to 1,024 bytes
     * @param array<string, string|int|float|bool|null> $labels in addition to those of the request, which they override; keys as
     *     in add_label(), but "host" and "sapi" are allowed
     * @return string the id of the run, 32 hexadecimal digits
     * @throws \ValueError if source or labels are invalid
     * @throws \TypeError if a label is not a scalar
     * @throws Exception if it cannot be delivered: no daemon, or one that is too slow; more than 64 MB
     */
    public function save(string $source, ?string $name = null, array $labels = []): string {}
}
