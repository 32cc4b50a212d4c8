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

/** The rise of the peak of memory by each call. */
const PEAK_MEMORY = 8;

/** Allocations, frees and allocated bytes of each call. */
const ALLOCATIONS = 16;

/** Elapsed time by samples, each millisecond, instead of two clock reads a call. Beside any other metric, and where no thread can be started, it means WALL. */
const SAMPLED_WALL = 32;

/**
 * Version of the extension, such as "1.2.3". UNKNOWN, because php_strobe.h alone defines it.
 *
 * @var string
 * @cvalue PHP_STROBE_VERSION
 */
const VERSION = UNKNOWN;

/**
 * Sets a label of what runs: of the samples that are taken from now on, and of runs that are made from now on. It holds until
 * the request ends, or what the program is inside of: a unit, a call of with_labels(). A label that has the key already, from
 * strobe.labels or from before, is replaced. Labels make series: use few different values per key, never ids of users or
 * requests; set_attribute() is for those.
 *
 * Changing labels sends nothing and costs well below a microsecond: samples are kept apart by the labels that held, and sent
 * as always. A sample that is due just when a label changes may fall on either side.
 *
 * @param string $key 1 to 64 letters, digits and "_", not beginning with a digit; "source", "id", "url", "name",
 *     "folded_calls", "uncharted_calls", "host" and "sapi" are taken
 * @param string $value cut to 255 bytes; control characters become "?"
 * @throws \ValueError if the key cannot be one
 * @throws Exception if there are 32 labels already
 */
function add_label(string $key, string $value): void {}

/**
 * Takes back a label that add_label(), with_labels() or a unit has set: what strobe.labels says of the key, if anything,
 * holds again. Inside of a unit or of with_labels() it is taken back until their end.
 *
 * @return bool whether there was one
 */
function remove_label(string $key): bool {}

/**
 * Calls $f, with these labels beside those that hold, and returns what it returns. Afterwards, also when it throws, the labels
 * are those of before. Inside of a fiber they hold only while that fiber runs, or one that was started meanwhile.
 *
 * @param array<string, string|int|float|bool|null> $labels as of add_label()
 * @throws \ValueError if a key cannot be one
 * @throws \TypeError if a label is no scalar
 * @throws Exception if there would be more than 32 labels
 */
function with_labels(array $labels, callable $f): mixed {}

/**
 * Names what runs, by the route for example: the label "entry" of the unit that the program is in, or of the request, from now
 * on to its end, and of its run.
 *
 * @throws \ValueError if it is empty
 */
function set_entry(string $name): void {}

/**
 * The labels that a run of this request, or of the unit that the program is in, would have now.
 *
 * @return array<string, string>
 */
function labels(): array {}

/**
 * Says something of the runs that are made in this request, or in the unit that the program is in: the id of a job, of a user,
 * of a distributed trace. It is never a label of samples, so it may have any number of values. Nothing happens if there is no
 * run. In a run it stands in place of a label with the same key.
 *
 * @param string $key as of add_label()
 * @param string|int|float|bool $value cut to 255 bytes; control characters become "?"
 * @throws \ValueError if the key cannot be one
 * @throws \TypeError if the value is no scalar
 * @throws Exception if there are 24 attributes already
 */
function set_attribute(string $key, string|int|float|bool $value): void {}

/**
 * Traces the request, or the unit that the program is in, from now on to its end; it will be a run of source "code". One that
 * is traced by chance already is so from its beginning, and is kept as is said here.
 *
 * @param string $keep a value of strobe.trace_keep, such as "slow:500ms,status:5xx,failed": keep the trace only then;
 *     empty: always
 * @return bool whether it is traced now: false if PHP was started without strobe.instrument=1, or without memory
 * @throws \ValueError if $keep cannot be understood
 */
function trace_request(string $keep = ''): bool {}

/**
 * Ends the trace of the request, or of the unit that the program is in, and forgets it. One that was wanted by
 * strobe.trigger_secret stays.
 *
 * @return bool whether there was one to forget
 */
function discard_trace(): bool {}

/** Sends the samples that there are, which happens once a second and at the end of the request and of each unit anyway. Never waits. */
function flush(): void {}

/** Whether what runs is sampled for the daemon (strobe.mode=sample, strobe.request_rate). */
function is_sampling(): bool {}

/** Whether this request, or the unit that the program is in, is traced as a whole and will be a run, if strobe.trace_keep does not say otherwise. */
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

/** Thrown by this extension, beside \ValueError and \TypeError. */
class Exception extends \RuntimeException {}

/**
 * A piece of work inside of a request: a job of a worker, a message, a turn of a loop. It has a name, which is the label "entry",
 * labels of its own, and decides for itself whether it is sampled and traced, as a request does. When it ends its samples are
 * sent and its trace becomes a run.
 *
 * A unit ends by end(), or when its object is destroyed: keep the object. Units may lie in each other; one that ends ends the
 * labels of those that the same fiber has begun inside of it. One that is begun in a fiber is that fiber's: its labels hold,
 * and its trace sees, only what that fiber does, and fibers that are started in it or resumed by it. A fiber that is started
 * while a unit runs is in that unit until the unit ends; other fibers are not. Anything that such a fiber has begun itself goes on
 * then, without the labels that the unit gave it.
 */
final class Unit
{
    private function __construct() {}

    /**
     * Begins a unit, with the labels that hold now and its own.
     *
     * @param string $name its label "entry"
     * @param array<string, string|int|float|bool|null> $labels as of with_labels()
     * @param array{sample?: bool, trace?: bool, keep?: string} $options sample: whether it is sampled, if strobe.mode is
     *     "sample" (default: by chance, strobe.request_rate); trace: whether it is traced (default: by chance,
     *     strobe.trace_rate); keep: a value of strobe.trace_keep, in its place for this unit
     * @throws \ValueError if the name is empty, or labels or options are not as said here
     * @throws \TypeError for labels that are no scalars, and options of another type
     * @throws Exception if there would be more than 32 labels, or after the end of the request
     */
    public static function begin(string $name, array $labels = [], array $options = []): Unit {}

    /**
     * Calls $f as a unit and returns what it returns. If it throws, the unit has failed.
     *
     * @param array<string, string|int|float|bool|null> $labels as of begin()
     * @param array{sample?: bool, trace?: bool, keep?: string} $options as of begin()
     */
    public static function run(string $name, callable $f, array $labels = [], array $options = []): mixed {}

    /**
     * Ends it. Nothing happens if it has ended.
     *
     * @param bool $failed its run gets the label failed=1, and strobe.trace_keep=failed keeps it
     */
    public function end(bool $failed = false): void {}

    /** Whether it has not ended. */
    public function isRunning(): bool {}
}

/**
 * An exact call tree of what runs between start() and stop(). Any number may run at once, stopped in any order. One that is
 * destroyed while it runs is dropped; but if an exception or exit() destroys it, or it still runs when the request ends, it
 * becomes a run of source "unfinished" with the labels unfinished=1 and exception=CLASS.
 */
final class Trace
{
    private function __construct() {}

    /**
     * Starts a trace. It has all that the running function calls from now on, right below "main()".
     *
     * @param int $metrics a sum of WALL, CPU, MEMORY, PEAK_MEMORY, ALLOCATIONS, SAMPLED_WALL, or COUNTS
     * @param array{internals?: bool, files?: bool, loads?: bool, flame_chart?: bool, include?: string|list<string>, exclude?: string|list<string>} $options
     *     internals: functions that are not written in PHP, too (default true); files: the file scope of scripts, include
     *     and eval (default true); loads: compilation of scripts (default false); flame_chart: keep each call with its times, in
     *     the order of the calls, too (default false; strobe.trace_chart_calls limits how many); include: only functions with these
     *     names; exclude: none with these. A name is one as profiles show it ("strlen", "App\Cart::price", the path of a
     *     script; a closure is "App\Cart::{closure}" or "App\{closure}"), letters of either case are equal, and * stands
     *     for any characters: "Twig\*", "App\Cart::*". An excluded function is transparent: its callees are
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
     * With the option "flame_chart" of the trace: the calls that are in the tree and not in the flame chart, because there are more
     * than strobe.trace_chart_calls. Null without that option.
     */
    public function getUnchartedCalls(): ?int {}

    /**
     * The totals by metric.
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
     * A file of https://www.speedscope.app, ready for json_encode(). Values that are not above 0 are left out. The flame chart, if
     * there is one, is the order and the time of what "wall_ns" shows.
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
     * ("Fiber::resume==>job") counts how often a fiber was resumed there.
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
