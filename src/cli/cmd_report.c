/* cmd_report.c: `strobe report`: which functions took how much, as a table. */

#include "commands.h"

#include "inputs.h"
#include "io.h"
#include "report.h"

#include <string.h>
#include <sys/ioctl.h>

static const char *by = "self", *column;
static long rows = 30;
static bool json;

static const struct option_spec options[] = {
	{ OPTION_STRING, 0, "by", "self|total", &by,
	  "Most first by what: self (in the function itself; default) or total (with what it calls)." },
	{ OPTION_INT, 'n', "rows", "ROWS", &rows, "Rows to print; 30 unless given, 0 for all." },
	{ OPTION_STRING, 0, "column", "NAME", &column,
	  "What is counted: samples, wall_ns, cpu_ns, calls, memory_bytes, ...; unless given, time of a trace and "
	  "samples of a sampling profile. --metric is the same." },
	{ OPTION_STRING, 0, "metric", "NAME", &column, NULL },
	{ OPTION_FLAG, 0, "json", NULL, &json, "Print JSON, with plain numbers." },
	{ 0 }
};

static const struct command_spec spec = {
	.name = "report",
	.usage = "[FILE...|-] [--by self|total] [-n ROWS]",
	.summary = "print a table of functions by self or total",
	.description =
		"Reads profiles of any known format (.strobe, folded stacks, what xhprof, tideways_xhprof and uprofiler "
		"keep; also compressed by gzip or zstd), adds them up and prints one row per function: what it took itself and with everything that it called. "
		"A stack in which a function stands several times counts once for its total. Without FILE it reads "
		"what is piped into it, else profile.strobe, which `strobe run` writes.\n\n"
		"The exit code is 4 when nothing was sampled.",
	.examples =
		"strobe report profile.strobe\n"
		"strobe report --by total -n 10 monday.strobe tuesday.strobe\n"
		"strobe report --json stacks.folded | jq '.functions[0]'\n",
	.options = options,
};

static size_t terminal_width(void)
{
	struct winsize size;

	return isatty(STDOUT_FILENO) && !ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) ? size.ws_col : 0;
}

static int report(const struct inputs *in)
{
	const char *no_color = getenv("NO_COLOR");
	struct report_options o = {
		.limit = (size_t)rows,
		.by_total = !strcmp(by, "total"),
		.json = json,
		.color = isatty(STDOUT_FILENO) && !(no_color && *no_color),
		.width = terminal_width(),
	};
	_cleanup_(buf_done) struct buf table = { 0 };
	struct err err = { 0 };
	bool has_values;
	int code;

	buf_init(&table);
	if ((code = inputs_column(in, &spec, column, &o.column)))
		return code;
	has_values = inputs_have_values(in, &spec, o.column, true);
	if (!has_values && !json)
		return EXIT_NOTHING;
	if (report_flat_table(in->profile, &o, &table, &err) < 0 ||
	    io_write_all(STDOUT_FILENO, table.data, table.size, &err) < 0)
		return command_cannot(&spec, &err);
	return has_values ? EXIT_FINE : EXIT_NOTHING;
}

static int run(int argc, char **argv)
{
	struct inputs in = { 0 };
	int operands, code;

	if ((code = command_options(&spec, argc, argv, false, &operands)) >= 0)
		return code;
	if (strcmp(by, "self") && strcmp(by, "total"))
		return command_usage(&spec, "--by '%s' is not known; it may be self or total", by);
	if (rows < 0)
		return command_usage(&spec, "--rows %ld makes no sense; 0 is all", rows);

	code = inputs_load(&in, &spec, argv + 1, (size_t)operands);
	if (!code)
		code = report(&in);
	inputs_done(&in);
	return code;
}

const struct command command_report = { &spec, run };
