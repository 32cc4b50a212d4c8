/* cmd_collapse.c: `strobe collapse`: any known profile as folded stacks, one line each. */

#include "commands.h"

#include "folded_write.h"
#include "format.h"
#include "inputs.h"
#include "io.h"
#include "render.h"

#include <ctype.h>
#include <math.h>
#include <string.h>

static const char *output = "-", *column, *from;
static const char *times;
static bool all, without_recursion, time_raw, time_from_second;
static struct format_options reading;		/* options of the readers, one per line below */
static struct buf order;			/* keeps the order of stacks, for formats whose original script does */

static const struct option_spec options[] = {
	{ OPTION_STRING, 'o', "output", "FILE", &output,
	  "Write to FILE (default: -, standard output)." },
	{ OPTION_STRING, 0, "from", "FORMAT", &from,
	  "Input format (default: auto-detect)." },
	PROFILE_URL_OPTION,
	{ OPTION_STRING, 0, "column", "COLUMN", &column, "Column (default: time for traces, else samples).",
	  "Columns are values such as samples or cpu_ns. Alias: --metric." },
	{ OPTION_STRING, 0, "metric", "COLUMN", &column, NULL },
	{ OPTION_FLAG, 0, "recursive", NULL, &without_recursion,
	  "Merge direct recursion: a;b;b;b;c becomes a;b;c." },
	{ OPTION_HEADING, 0, NULL, NULL, NULL, "Text of perf script, eu-stack and pprof" },
	{ OPTION_FLAG, 0, "pid", NULL, &reading.pid, "Append the process ID to the name: php-4152.",
	  "perf script prints it with -F +pid. In stacks of eu-stack a frame PID=4152 is added instead." },
	{ OPTION_FLAG, 0, "tid", NULL, &reading.tid, "Append process and thread ID: php-4152/4160.",
	  "In stacks of eu-stack a frame TID=4160 is added instead." },
	{ OPTION_FLAG, 0, "kernel", NULL, &reading.kernel, "Append _[k] to kernel functions." },
	{ OPTION_FLAG, 0, "jit", NULL, &reading.jit, "Append _[j] to functions compiled at run time (JIT)." },
	{ OPTION_FLAG, 0, "all", NULL, &all, "Same as --kernel --jit." },
	{ OPTION_FLAG, 0, "addrs", NULL, &reading.addresses, "Show addresses of frames without a symbol.",
	  "They look like [libc.so.6 <9c3f0>]." },
	{ OPTION_FLAG, 0, "inline", NULL, &reading.inlined, "Add inlined functions (of addr2line or pprof).",
	  "For perf script, addr2line looks them up; the text of pprof has them." },
	{ OPTION_FLAG, 0, "context", NULL, &reading.context, "With --inline, append source lines to names." },
	{ OPTION_FLAG, 0, "srcline", NULL, &reading.source_lines,
	  "Append source lines (perf script -F +srcline).",
	  "The lines become part of the names." },
	{ OPTION_STRING, 0, "event-filter", "EVENT", &reading.event,
	  "Count samples of this event (default: the first).",
	  "EVENT is a name such as cycles or cpu-clock:u. By default it is the first one in the input." },
	{ OPTION_STRING, 0, "time", "MIN,MAX", &times, "Only samples between these seconds.",
	  "They count from the first event; MIN or MAX may be empty." },
	{ OPTION_FLAG, 0, "timezerosecs", NULL, &time_from_second,
	  "With --time: count from the first full second.",
	  "That is the time of the first event, rounded down." },
	{ OPTION_FLAG, 0, "timeraw", NULL, &time_raw, "With --time, use the timestamps of the input." },
	{ OPTION_HEADING, 0, NULL, NULL, NULL, "Traces of Xdebug" },
	{ OPTION_FLAG, 'c', "calls", NULL, &reading.calls,
	  "Count calls of leaves (default: microseconds)." },
	{ OPTION_HEADING, 0, NULL, NULL, NULL, "Sleep time of threads (--from perf-sched)" },
	{ OPTION_FLAG, 0, "record-tid", NULL, &reading.record_tid,
	  "Append the thread ID to the process name: php-4160." },
	{ OPTION_FLAG, 0, "record-wake-stack", NULL, &reading.record_wake_stack,
	  "Add the waker of the thread and its stack.",
	  "The waker's stack is appended with its leaf first." },
	{ OPTION_FLAG, 0, "recurse", NULL, &reading.recurse, "Also add the waker of the waker, and so on." },
	{ OPTION_FLAG, 0, "record_tid", NULL, &reading.record_tid, NULL },
	{ OPTION_FLAG, 0, "record_wake_stack", NULL, &reading.record_wake_stack, NULL },
	{ 0 }
};

static const struct command_spec spec = {
	.name = "collapse",
	.usage = "[FILE...|-] [-o FILE]",
	.summary = "write profiles as folded stacks, one line each",
	.description =
		"Reads profiles of any known format (`strobe convert --help` lists them; also compressed by gzip or "
		"zstd), adds them up and writes each stack once: frames from the root to the leaf, separated by ;, "
		"then a space and the value. Stacks are sorted, so that equal profiles give equal text; only "
		"bpftrace's keep their order. Without FILE it reads standard input if that is piped, else "
		"profile.strobe, which `strobe run` writes. A FILE may also be the URL of a page or of the API "
		"of `strobe serve`.\n\n"
		"The exit code is 4 when nothing was sampled.",
	.examples =
		"strobe collapse profile.strobe | grep -F Parser\n"
		"strobe collapse a.folded b.folded -o both.folded\n"
		"perf script | strobe collapse --kernel >out.folded\n",
	.more_choices = inputs_format_choices,
	.options = options,
};

/* Whether all inputs have a meaningful order. */
static bool is_in_order(const struct inputs *in)
{
	const struct format_stack *stacks = (const struct format_stack *)(const void *)order.data;
	int64_t sum = 0;

	if (!order.size || order.overflow || without_recursion || in->profile->column_count != 1)
		return false;
	for (size_t i = 0; i < order.size / sizeof(*stacks); i++)
		if (__builtin_add_overflow(sum, stacks[i].value, &sum))
			return false;
	return sum == profile_sum(in->profile, 0);
}

static int collapse(struct inputs *in)
{
	_cleanup_(buf_done) struct buf folded = { 0 };
	struct err err = { 0 };
	uint32_t number;
	int code, left_out;

	buf_init(&folded);
	if (without_recursion) {
		struct profile *whole = in->profile;

		in->profile = profile_without_recursion(whole);
		profile_free(whole);
	}
	if ((code = inputs_column(in, &spec, column, &number)))
		return code;
	if (!inputs_have_values(in, &spec, number, false))
		return EXIT_NO_SAMPLES;
	if (!column)
		inputs_report_side(in->profile, &spec, number);
	left_out = is_in_order(in) ? folded_write_order(in->profile, &order, &folded, &err) :
		   format_folded.write(in->profile, number, &folded, &err);
	if (left_out > 0)
		fprintf(stderr, "strobe %s: %s\n", spec.name, err.text);
	if (left_out >= 0 && in->profile->estimated)
		fprintf(stderr, "strobe %s: " RENDER_ESTIMATE "\n", spec.name);
	if (left_out < 0 || io_write_file(output, folded.data, folded.size, &err) < 0)
		return command_fail(&spec, &err);
	return EXIT_OK;
}

/* Parses a number of seconds; an empty text up to `end` means `otherwise`. */
static bool parse_seconds(const char *p, const char *end, double otherwise, double *ret)
{
	char *stop;

	*ret = otherwise;
	if (p == end)
		return true;
	*ret = strtod(p, &stop);
	return stop == end && !isspace((unsigned char)*p) && isfinite(*ret);
}

/* "10,20", "10,", ",20" */
static int parse_times(void)
{
	const char *comma = times ? strchr(times, ',') : NULL;

	if (!times)
		return time_raw || time_from_second ? command_usage(&spec, "--timeraw and --timezerosecs need --time") : 0;
	if (!comma || !parse_seconds(times, comma, -INFINITY, &reading.time_min) ||
	    !parse_seconds(comma + 1, times + strlen(times), INFINITY, &reading.time_max))
		return command_invalid(&spec, "time", "MIN,MAX in seconds, such as 10,20.5");
	if (reading.time_min > reading.time_max)
		return command_invalid(&spec, "time", "MIN,MAX with a MIN that is not above MAX");
	reading.time_range = true;
	reading.time_zero = time_raw ? TIME_RAW : time_from_second ? TIME_FROM_SECOND : TIME_FROM_FIRST;
	return 0;
}

static int run(int argc, char **argv)
{
	struct inputs in = { 0 };
	int operands, code;

	if ((code = command_options(&spec, argc, argv, false, &operands)) >= 0)
		return code;
	buf_init(&order);
	reading.script_values = true;
	reading.order = &order;
	if ((code = inputs_format(&spec, from, &reading.format)) || (code = parse_times()))
		return code;
	reading.kernel |= all;
	reading.jit |= all;
	code = inputs_load_as(&in, &spec, &reading, argv + 1, (size_t)operands);
	if (!code)
		code = collapse(&in);
	inputs_done(&in);
	buf_done(&order);
	return code;
}

const struct command command_collapse = { &spec, run };
