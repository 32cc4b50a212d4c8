/* cmd_report.c: `strobe report`: tables of functions, and of their callers and callees. */

#include "commands.h"

#include "format.h"
#include "inputs.h"
#include "io.h"
#include "mem.h"
#include "report.h"

#include <string.h>

static struct option_list by;
static struct format_options reading;
static const char *from, *sort, *column, *callers, *callees, *focus, *ignore, *weights;
static long rows = 30;
static bool json, csv, all_columns;

static const struct option_spec options[] = {
	{ OPTION_LIST, 0, "by", "GROUP", &by, "Group by function (default), class, file, line, ...",
	  "The others are namespace, package and own." },
	{ OPTION_STRING, 's', "sort", "KEY", &sort, "Sort by self (default), total, or a column.",
	  "The total includes callees. A column, such as cpu_ns or cpu_ns:total." },
	{ OPTION_INT, 'n', "rows", "N", &rows, "Number of rows (default: 30; 0: all)." },
	{ OPTION_STRING, 0, "from", "FORMAT", &from,
	  "Input format (default: auto-detect)." },
	PROFILE_URL_OPTION,
	{ OPTION_STRING, 0, "column", "COLUMN", &column, "Column (default: time for traces, else samples).",
	  "Columns are values such as samples or cpu_ns. Alias: --metric." },
	{ OPTION_STRING, 0, "metric", "COLUMN", &column, NULL },
	{ OPTION_FLAG, 'a', "all-columns", NULL, &all_columns,
	  "Show all columns, self and total (marked +)." },
	{ OPTION_HEADING, 0, NULL, NULL, NULL, "One function" },
	{ OPTION_STRING, 0, "callers", "FUNCTION", &callers, "Callers of FUNCTION: its name, or a unique part.",
	  "The part may be a regular expression that matches only one name." },
	{ OPTION_STRING, 0, "callees", "FUNCTION", &callees, "Callees of FUNCTION; also with --callers.",
	  "Both may be given, to see the callers and the callees." },
	{ OPTION_HEADING, 0, NULL, NULL, NULL, "Filters and weights" },
	{ OPTION_STRING, 0, "focus", "REGEX", &focus, "Only stacks with a function that matches.",
	  "Alias: --filter." },
	{ OPTION_STRING, 0, "filter", "REGEX", &focus, NULL },
	{ OPTION_STRING, 0, "ignore", "REGEX", &ignore, "Leave out stacks with a function that matches." },
	{ OPTION_STRING, 0, "weights", "W,W,...", &weights, "Average the files with these weights.",
	  "Without it they are added up. Each file has one weight, in the same order (uprofiler's wts)." },
	{ OPTION_HEADING, 0, NULL, NULL, NULL, "Output" },
	{ OPTION_FLAG, 0, "json", NULL, &json, "Print JSON with plain numbers." },
	{ OPTION_FLAG, 0, "csv", NULL, &csv,
	  "Print CSV with plain numbers; formulas are escaped." },
	{ 0 }
};

static const struct command_spec spec = {
	.name = "report",
	.usage = "[FILE...|-] [--callers FUNCTION] [--callees FUNCTION] [--by GROUP] [--sort KEY]",
	.summary = "print a table of functions, or the callers and callees of one",
	.description =
		"Reads profiles of any known format, also compressed by gzip or zstd, adds them up and prints one "
		"row per function with its self value and its total, which includes its callees. Recursive calls "
		"count once in the total. Without FILE it reads standard input if that is piped, else "
		"profile.strobe, which `strobe run` writes. A FILE may also be the URL of a page or of the API "
		"of `strobe serve`.\n\n"
		"Callers and callees are exact: each sample belongs to the caller of the outermost call of the "
		"function, and to what its innermost call had called. So callers add up to its total, and callees "
		"to its total less self, even with recursion. Files with caller-callee pairs instead of stacks "
		"(xhprof, callgrind) do not determine every total: one marked with ≤ is an upper limit.\n\n"
		"--by line groups by the executed line or, in profiles without lines, by the first line of the "
		"function; --by own by your own functions, including the time of libraries below vendor/ and of PHP's "
		"own functions. --by self and --by total mean --sort.\n\n"
		"The exit code is 4 when nothing was sampled.",
	.examples =
		"strobe report profile.strobe\n"
		"strobe report --sort total -n 10 monday.strobe tuesday.strobe\n"
		"strobe report --callers PDO::query --callees PDO::query\n"
		"strobe report --by namespace --csv >spreadsheet.csv\n"
		"strobe report --weights 3,1 new.strobe old.strobe\n"
		"strobe report 'http://127.0.0.1:8787/?from=-1h&entry=api*'\n"
		"strobe report --json stacks.folded | jq '.functions[0]'\n",
	.more_choices = inputs_format_choices,
	.choices =
		"by function line file class namespace package own\n"
		"sort self total\n",
	.options = options,
};

/* --- Options --- */

static int parse_by(struct report_options *o)
{
	for (size_t i = 0; i < by.count; i++) {
		const char *what = by.items[i];

		if (!strcmp(what, "self") || !strcmp(what, "total"))
			sort = sort ? sort : what;
		else if (!report_by_parse(what, &o->by))
			return command_usage(&spec, "invalid --by '%s'; use function, line, file, class, namespace, package or own", what);
	}
	return 0;
}

/* Parses "self", "total", "COLUMN", "COLUMN:self" or "COLUMN:total"; a column is shown, too. */
static int parse_sort(struct report_options *o)
{
	static char name[64];
	const char *colon = sort ? strrchr(sort, ':') : NULL;
	const char *how = colon ? colon + 1 : sort;
	bool by_total;

	if (!sort)
		return 0;
	by_total = !strcmp(how, "total");
	o->sort = by_total ? REPORT_SORT_TOTAL : REPORT_SORT_SELF;
	if (!colon && (by_total || !strcmp(how, "self")))
		return 0;
	if (colon && !by_total && strcmp(how, "self"))
		return command_invalid(&spec, "sort", "self or total after the colon");
	if (column)
		return command_usage(&spec, "--sort %s and --column %s name two columns; with --column, use --sort self or "
				     "total", sort, column);
	snprintf(name, sizeof(name), "%.*s", colon ? (int)(colon - sort) : 63, sort);
	column = name;
	all_columns = true;
	return 0;
}

static int parse(struct report_options *o)
{
	int code;

	*o = (struct report_options){
		.limit = (size_t)rows,
		.json = json,
		.csv = csv,
		.sums = true,
		.color = command_wants_color(STDOUT_FILENO),
		.width = command_terminal_width(STDOUT_FILENO),
	};
	if ((code = parse_by(o)) || (code = parse_sort(o)))
		return code;
	if (rows < 0)
		return command_invalid(&spec, "rows", "0 (all) or more");
	if (json && csv)
		return command_usage(&spec, "--json and --csv exclude each other");
	return 0;
}

/* --- The profile --- */

/* Parses "3,1.5" as exactly `count` numbers, in millionths. */
static int parse_weights(uint64_t *ret, size_t count)
{
	const char *at = weights;
	double sum = 0;
	size_t n = 0;

	for (;;) {
		char *end;
		double w = strtod(at, &end);

		if (end == at || !(w >= 0 && w <= 1e6) || (*end && *end != ','))
			return command_invalid(&spec, "weights", "numbers from 0 to 1000000, separated by commas");
		if (n < count)
			ret[n] = (uint64_t)(w * 1e6 + 0.5);
		n++;
		sum += w;
		if (!*end)
			break;
		at = end + 1;
	}
	if (n != count)
		return command_usage(&spec, "--weights has %zu number%s for %zu file%s", n, n == 1 ? "" : "s", count,
				     count == 1 ? "" : "s");
	return sum > 0 ? 0 : command_invalid(&spec, "weights", "a number above 0 for one file at least");
}

/* Loads each file separately, and stores their average in `in`. */
static int load_average(struct inputs *in, char **files, size_t count)
{
	_cleanup_(freep) uint64_t *w = xcalloc(count + 1, sizeof(*w));
	struct inputs *each = xcalloc(count + 1, sizeof(*each));
	_cleanup_(freep) const struct profile **profiles = xcalloc(count + 1, sizeof(*profiles));
	_cleanup_(buf_done) struct buf lacks = { 0 };
	int code = parse_weights(w, count);
	struct err err;

	buf_init(&lacks);
	for (size_t i = 0; i < count && !code; i++) {
		code = inputs_load_as(&each[i], &spec, &reading, files + i, 1);
		profiles[i] = each[i].profile;
		in->files += each[i].files;
		in->empty_files += each[i].empty_files;
	}
	in->first = count ? files[0] : NULL;
	if (!code && report_average_check(profiles, w, count, &err) < 0)
		code = command_usage(&spec, "%s", err.text);
	if (!code) {
		in->profile = report_average(profiles, w, count);
		report_average_lacks(profiles, w, count, &lacks);
	}
	if (lacks.size)
		fprintf(stderr, "strobe report: %.*s\n", (int)lacks.size, lacks.data);
	for (size_t i = 0; i < count; i++)
		inputs_done(&each[i]);
	free(each);
	return code;
}

/* --- The table --- */

static int put_edges(const struct profile *p, const struct report_options *o, struct buf *table, struct err *err)
{
	_cleanup_(freep) bool *above = report_no_frames(p), *below = report_no_frames(p);
	int r;

	if (callers && (r = report_find(p, callers, above, err)) < 0)
		return r;
	if (callees && (r = report_find(p, callees, below, err)) < 0)
		return r;
	return report_edges_table(p, callers ? above : NULL, callees ? below : NULL, o, table, err);
}

/* Shows all columns of a trace unless one was requested. */
static int put_table(const struct profile *p, struct report_options *o, struct buf *table, struct err *err)
{
	bool wide = all_columns || (!column && profile_find_column(p, "calls") != UINT32_MAX);

	o->all_columns = all_columns || (wide && (json || csv));
	if (callers || callees)
		return put_edges(p, o, table, err);
	return wide ? report_wide_table(p, o, table, err) : report_flat_table(p, o, table, err);
}

/* The URL of a grouped page already returns groups instead of functions, so only headings change. */
static void name_groups(const struct inputs *in, struct report_options *o)
{
	struct str given = in->files == 1 && in->first && profile_url_is(in->first) ? profile_url_value(in->first, "by=") : (struct str){ 0 };
	char text[16];

	snprintf(text, sizeof(text), "%.*s", (int)given.n, given.n ? given.p : "");
	report_by_parse(text, &o->by);
}

static int report(struct inputs *in, struct report_options *o)
{
	_cleanup_(buf_done) struct buf table = { 0 };
	struct err err = { 0 };
	uint32_t before;
	bool has_values;
	int code;

	inputs_show_names(in);
	if ((code = inputs_select(in, &spec, focus, ignore)))
		return code;
	if (o->by != REPORT_BY_FUNCTION)
		inputs_replace(in, report_group(in->profile, o->by));
	else
		name_groups(in, o);
	if ((code = inputs_column(in, &spec, column, &o->column)))
		return code;
	inputs_difference(in, column, &o->column, &before);
	if (!column)
		inputs_report_side(in->profile, &spec, o->column);
	has_values = inputs_have_values(in, &spec, o->column, true);
	if (!has_values && !json && !csv)
		return EXIT_NO_SAMPLES;
	buf_init(&table);
	if (put_table(in->profile, o, &table, &err) < 0 ||
	    io_write_all(STDOUT_FILENO, table.data, table.size, &err) < 0)
		return command_fail(&spec, &err);
	return has_values ? EXIT_OK : EXIT_NO_SAMPLES;
}

/* The URL of a function's page returns the whole profile, like any other page. */
static void warn_function_ignored(char **names, size_t count)
{
	if (callers || callees)
		return;
	for (size_t i = 0; i < count; i++) {
		if (profile_url_is(names[i]) && profile_url_value(names[i], "function=").n) {
			fputs("strobe report: the address names a function, and this is the table of all; --callers and --callees "
			      "show one\n", stderr);
			return;
		}
	}
}

static int run(int argc, char **argv)
{
	struct inputs in = { 0 };
	struct report_options o;
	int operands, code;

	if ((code = command_options(&spec, argc, argv, false, &operands)) >= 0)
		return code;
	if ((code = parse(&o)))
		return code;

	if ((code = inputs_format(&spec, from, &reading.format)))
		return code;
	reading.keep_lines = o.by == REPORT_BY_LINE;
	code = weights ? load_average(&in, argv + 1, (size_t)operands) :
			 inputs_load_as(&in, &spec, &reading, argv + 1, (size_t)operands);
	if (!code) {
		warn_function_ignored(argv + 1, (size_t)operands);
		code = report(&in, &o);
	}
	inputs_done(&in);
	return code;
}

const struct command command_report = { &spec, run };
