/* cmd_diff.c: `strobe diff`: what changed between two profiles. */

#include "commands.h"

#include "amount.h"
#include "diff_picture.h"
#include "diff_report.h"
#include "folded_write.h"
#include "io.h"
#include "profile_file.h"
#include "sides.h"
#include "text.h"

#include <math.h>
#include <string.h>

static const char *normalize, *sort = "self", *column, *format, *output = "-";
static double fail_over = NAN, sigma;	/* NAN: not given */
static long rows = 30;
static struct diff_picture picture;
static bool by_total_scale, strip_hex, all, force, compat, folded, json, csv;

static const struct option_spec options[] = {
	{ OPTION_STRING, 'o', "output", "FILE", &output, "Write to FILE: .svg, .html, .json, ... (default: -).",
	  "A picture (.svg, .svgz or .html), .json, .csv or .folded; - is standard output." },
	{ OPTION_STRING, 'f', "format", "FORMAT", &format,
	  "Format: table (default), json, csv, folded or svg." },
	{ OPTION_FLAG, 0, "folded", NULL, &folded,
	  "Same as -f folded, like difffolded.pl." },
	{ OPTION_FLAG, 0, "json", NULL, &json, "Same as -f json." },
	{ OPTION_FLAG, 0, "csv", NULL, &csv, "Same as -f csv." },
	{ OPTION_DOUBLE, 0, "fail-over", "PERCENT", &fail_over,
	  "Exit with 3 if a total grew by more than PERCENT.",
	  "This is checked for each function. PERCENT is of the whole profile before, and the growth must exceed the noise." },
	{ OPTION_HEADING, 0, NULL, NULL, NULL, "Comparison" },
	{ OPTION_STRING, 0, "normalize", "MODE", &normalize, "Scale A to B by total, rate, requests or none.",
	  "Samples are scaled to the same total by default, other columns are not. With rate values are compared per second, with requests per request." },
	{ OPTION_FLAG, 'n', NULL, NULL, &by_total_scale,
	  "Same as --normalize total, as in difffolded.pl." },
	{ OPTION_FLAG, 's', "strip-hex", NULL, &strip_hex, "Strip addresses from names: 0x7f01 becomes 0x..." },
	{ OPTION_STRING, 0, "column", "COLUMN", &column, "Column to compare (default: one that both have).",
	  "Columns are values such as samples or cpu_ns. Alias: --metric." },
	{ OPTION_STRING, 0, "metric", "COLUMN", &column, NULL },
	{ OPTION_FLAG, 0, "force", NULL, &force,
	  "Compare mismatched profiles, such as wall with CPU." },
	PROFILE_URL_OPTION,
	{ OPTION_FLAG, 0, "compat", NULL, &compat,
	  "Truncate scaled counts like difffolded.pl." },
	{ OPTION_HEADING, 0, NULL, NULL, NULL, "Table" },
	{ OPTION_STRING, 0, "sort", "KEY", &sort, "Sort by the change of self (default) or total.",
	  "self is the function itself, total includes its callees. Alias: --by." },
	{ OPTION_STRING, 0, "by", "KEY", &sort, NULL },
	{ OPTION_INT, 0, "rows", "N", &rows, "Number of rows (default: 30; 0: all)." },
	{ OPTION_FLAG, 'a', "all", NULL, &all,
	  "Also show changes within the noise, marked with ~." },
	{ OPTION_DOUBLE, 0, "sigma", "N", &sigma, "Noise threshold in standard errors.",
	  "By default, one table in twenty shows a change by chance." },
	{ OPTION_HEADING, 0, NULL, NULL, NULL, "Picture" },
	{ OPTION_STRING, 0, "width-of", "MODE", &picture.width_of,
	  "Width: maximum (default), after, before, difference.",
	  "The value that widths show; maximum is the larger of before and after." },
	{ OPTION_STRING, 0, "delta", "MODE", &picture.delta,
	  "Change that colors show: inclusive (default), self.",
	  "The change with callees (inclusive) or of the frame alone (self)." },
	{ OPTION_STRING, 0, "title", "TEXT", &picture.o.title, "Title (default: \"Difference\")." },
	{ OPTION_STRING, 0, "subtitle", "TEXT", &picture.o.subtitle, "Second, smaller line below the title." },
	{ OPTION_DOUBLE, 0, "width", "PX", &picture.o.width, "Width of the picture (default: 1200)." },
	{ OPTION_FLAG, 0, "inverted", NULL, &picture.o.inverted, "Icicle graph: the root on top." },
	{ OPTION_FLAG, 0, "reverse", NULL, &picture.o.reverse, "Merge stacks from the leaves." },
	{ 0 }
};

static const struct command_spec spec = {
	.name = "diff",
	.usage = "A B [-o FILE]",
	.summary = "compare two profiles: regressions and improvements",
	.description =
		"Compares profile A (before) with profile B (after), each of any known format (either may "
		"be -, standard input), and prints a table of functions, largest change first: the share before and "
		"after, the change in percent of the total before, the noise, and the values. A single file of "
		"folded stacks with two counts is shown as that difference. Each may also be the URL of a page or of "
		"the API of `strobe serve`; the URL of a comparison stands for both.\n\n"
		"Two sampled profiles of the same program always differ. Only changes beyond the noise are shown: a "
		"number of standard errors of the share, which grows with the number of functions.\n\n"
		"Profiles that cannot be compared are refused: different clocks or units, or sample counts "
		"with different periods. A comparison with little significance, such as one of 12 samples, gets a "
		"warning.\n\n"
		"The exit code is 3 when a regression exceeds --fail-over, and 4 when nothing was sampled.",
	.examples =
		"strobe diff monday.strobe tuesday.strobe\n"
		"strobe diff before.folded after.folded -o diff.svg\n"
		"strobe diff --sort total --all --rows 100 before.folded after.folded\n"
		"strobe diff base.strobe new.strobe --fail-over 1 || echo slower\n"
		"strobe diff 'http://web1:8787/?from=-25h&to=-24h' 'http://web1:8787/'\n"
		"strobe diff --folded -s before.folded after.folded -o both.folded\n",
	.choices =
		"format table json csv folded svg\n"
		"normalize total rate requests none\n"
		"sort self total\n"
		"width-of maximum after before difference\n"
		"delta inclusive self\n",
	.options = options,
};

enum form { FORM_TABLE, FORM_JSON, FORM_CSV, FORM_FOLDED, FORM_SVG };

static const char *const form_names[] = {
	[FORM_TABLE] = "table", [FORM_JSON] = "json", [FORM_CSV] = "csv", [FORM_FOLDED] = "folded",
	[FORM_SVG] = "svg", NULL
};

/* --- Options --- */

static int choose_form(enum form *ret)
{
	unsigned form;
	int code;

	if (folded + json + csv + (format != NULL) > 1)
		return command_usage(&spec, "more than one output format given");
	if ((code = command_choice(&spec, "format", format, form_names, &form)))
		return code;
	if (folded || (!format && (text_path_ends(output, ".folded") || text_path_ends(output, ".collapsed"))))
		form = FORM_FOLDED;
	else if (json || (!format && text_path_ends(output, ".json")))
		form = FORM_JSON;
	else if (csv || (!format && text_path_ends(output, ".csv")))
		form = FORM_CSV;
	else if (!format && profile_file_is_picture(output))
		form = FORM_SVG;
	*ret = (enum form)form;
	return 0;
}

static int choose_scale(const struct sides *s, enum form form, enum diff_scale *ret)
{
	unsigned scale;
	int code;

	if (by_total_scale && normalize && strcmp(normalize, "total"))
		return command_usage(&spec, "-n means --normalize total, which conflicts with --normalize %s", normalize);
	if ((code = command_choice(&spec, "normalize", normalize, sides_scale_names, &scale)))
		return code;
	if (!normalize)
		scale = by_total_scale || (form != FORM_FOLDED && (s->is_scaled || sides_are_sampled(s))) ? DIFF_BY_TOTAL : DIFF_AS_IT_IS;
	*ret = (enum diff_scale)scale;
	return 0;
}

static int check_options(void)
{
	if (strcmp(sort, "self") && strcmp(sort, "total"))
		return command_invalid(&spec, "sort", "self or total");
	if (rows < 0)
		return command_invalid(&spec, "rows", "0 (all) or more");
	if (sigma < 0)
		return command_invalid(&spec, "sigma", "0 or more standard errors");
	if (fail_over < 0)
		return command_invalid(&spec, "fail-over", "a percentage, 0 or more");
	return 0;
}

/* --- Inputs --- */

static int load_one(struct sides *s, char **files, enum form form)
{
	int code = inputs_load(&s->a, &spec, files, 1);
	uint32_t unused;

	if (code)
		return code;
	if (form != FORM_FOLDED)
		inputs_show_names(&s->a);
	if (!sides_take_difference(s, files[0]))
		return command_usage(&spec, "two profiles are needed, A (before) and B (after); '%s' is a single profile "
				     "without two counts", files[0]);
	return column ? inputs_column(&s->a, &spec, column, &unused) : 0;
}

/* Like difffolded.pl, allows an empty file on one side: everything is then new, or gone. */
static void copy_column(struct inputs *a, struct inputs *b)
{
	struct profile *empty = a->profile->column_count ? b->profile : a->profile;
	const struct profile *other = empty == a->profile ? b->profile : a->profile;
	uint32_t shown = profile_pick_column(other, column);

	if (!empty->column_count && shown != UINT32_MAX)
		profile_column(empty, other->columns[shown].name, other->columns[shown].unit);
}

static int choose_columns(struct sides *s, enum form form)
{
	int code;

	if (form == FORM_FOLDED)
		copy_column(&s->a, &s->b);
	if ((code = sides_columns(s, &spec, column)))
		return code;
	if (form == FORM_FOLDED && s->column_before != UINT32_MAX && s->column_after != UINT32_MAX)
		return 0;
	if (!inputs_have_values(&s->a, &spec, s->column_before, true) ||
	    !inputs_have_values(&s->b, &spec, s->column_after, true))
		return EXIT_NO_SAMPLES;
	return 0;
}

static int load_two(struct sides *s, char **files, enum form form)
{
	int code = sides_load(s, &spec, NULL, files, form == FORM_FOLDED);

	return code ? code : choose_columns(s, form);
}

/* The URL of a comparison selects both sides, and their scaling. */
static int load_sides(struct sides *s, const char *url, enum form form)
{
	static char scale[16];
	struct str wanted = profile_url_value(url, "scale=");
	int code = sides_load_address(s, &spec, NULL, url, form == FORM_FOLDED);

	if (wanted.n && !normalize && !by_total_scale) {
		snprintf(scale, sizeof(scale), "%.*s", (int)wanted.n, wanted.p);
		normalize = scale;
	}
	return code ? code : choose_columns(s, form);
}

/* --- Output --- */

static int put_folded(const struct diff *d, struct buf *out)
{
	struct err err = { 0 };
	int left_out = folded_write_difference(d->profile, d->before, d->after, d->measured, out, &err);

	if (left_out > 0)
		fprintf(stderr, "strobe diff: %s\n", err.text);
	if (left_out < 0 || io_write_file(output, out->data, out->size, &err) < 0)
		return command_fail(&spec, &err);
	return 0;
}

static int put_report(const struct diff_report *r, enum form form, struct buf *out)
{
	struct err err = { 0 };

	if (form == FORM_TABLE)
		diff_report_put_table(r, out);
	else if (form == FORM_JSON)
		diff_report_put_json(r, out);
	else
		diff_report_put_csv(r, out);
	if (io_write_file(output, out->data, out->size, &err) < 0)
		return command_fail(&spec, &err);
	return 0;
}

static int draw(const struct sides *s, const struct diff *d, enum diff_scale scale, const char *count_name)
{
	const char *unit = d->profile->columns[d->after].unit;
	struct page_metric metrics[SIDES_METRICS] = { { d, count_name } };
	struct page_comparison c = { .metrics = metrics, .count = 1, .name_before = s->name_before, .name_after = s->name_after, .labels = &s->a.profile->labels };
	struct diff_options o = { .scale = scale, .strip_hex = strip_hex, .truncate = compat, .whole_a = s->whole_before, .whole_b = s->whole_after };
	struct diff others[SIDES_METRICS] = { 0 };
	int code;

	picture.count_name = amount_is_count(amount_unit(unit)) ? count_name : NULL;
	if (text_path_ends(output, ".html") && !s->is_difference)
		c.count = sides_metrics(s, d, &o, others, metrics);
	code = diff_picture_write(&picture, &c, output, &spec);
	for (size_t i = 1; i < c.count; i++)
		diff_done(&others[i]);
	return code;
}

static int report_growth(const struct diff_report *r)
{
	_cleanup_(buf_done) struct buf name = { 0 };
	uint32_t frame;
	double change;

	if (!diff_report_grew(r, fail_over, &frame, &change))
		return EXIT_OK;
	buf_init(&name);
	if (frame == UINT32_MAX) {
		buf_puts(&name, "the total");
	} else {
		struct str text = profile_name(r->diff->profile, frame);

		text_put_plain(&name, text);
	}
	fprintf(stderr, "strobe diff: %s grew by %.2f%% of the total before, more than %g%%\n", name.data,
		change, fail_over);
	return EXIT_DIFFERENCE;
}

static int show(const struct sides *s, const struct diff *d, enum diff_scale scale, enum form form)
{
	static const char *const compared[] = {
		[DIFF_AS_IT_IS] = "as they are", [DIFF_BY_TOTAL] = "by share of the total", [DIFF_BY_RATE] = "by rate",
		[DIFF_BY_REQUESTS] = "by request",
	};
	struct diff_report_options o = {
		.name_before = s->name_before,
		.name_after = s->name_after,
		.column = sides_metric(s),
		.compared = compared[scale],
		.limit = (size_t)rows,
		.sort = !strcmp(sort, "total") ? REPORT_SORT_TOTAL : REPORT_SORT_SELF,
		.all = all,
		.sigma = sigma,
		.color = !strcmp(output, "-") && command_wants_color(STDOUT_FILENO),
		.width = strcmp(output, "-") ? 0 : command_terminal_width(STDOUT_FILENO),
	};
	_cleanup_(diff_report_done) struct diff_report r = { 0 };
	_cleanup_(buf_done) struct buf out = { 0 };
	bool is_report = form != FORM_SVG && form != FORM_FOLDED;
	int code;

	buf_init(&out);
	if (is_report || !isnan(fail_over))
		diff_report_init(&r, d, &o);
	code = form == FORM_SVG ? draw(s, d, scale, o.column) : form == FORM_FOLDED ? put_folded(d, &out) :
		put_report(&r, form, &out);
	return code || isnan(fail_over) ? code : report_growth(&r);
}

static int compare(struct sides *s, enum form form)
{
	struct diff_options o = { .strip_hex = strip_hex, .as_written = form == FORM_FOLDED, .truncate = compat, .whole_a = s->whole_before,
				  .whole_b = s->whole_after };
	_cleanup_(diff_done) struct diff d = { 0 };
	struct err err = { 0 };
	int code;

	if ((code = choose_scale(s, form, &o.scale)) || (code = sides_check(s, &spec, o.scale, force, form == FORM_FOLDED)))
		return code;
	if (profile_diff(s->before, s->column_before, s->after, s->column_after, &o, &d, &err) < 0)
		return command_fail(&spec, &err);
	return show(s, &d, o.scale, form);
}

static int run(int argc, char **argv)
{
	struct sides s = { 0 };
	enum form form = FORM_TABLE;
	int operands, code;

	flamegraph_defaults(&picture.o);
	if ((code = command_options(&spec, argc, argv, false, &operands)) >= 0)
		return code;
	if ((code = check_options()) || (code = choose_form(&form)) || (code = diff_picture_options(&picture, &spec)))
		return code;
	if (operands > 2)
		return command_usage(&spec, "unexpected argument '%s'; give two profiles, A (before) and B (after)", argv[3]);
	if (!operands)
		return command_usage(&spec, "two profiles are needed, A (before) and B (after)");

	code = operands == 2 ? load_two(&s, argv + 1, form) :
	       profile_url_is_comparison(argv[1]) ? load_sides(&s, argv[1], form) : load_one(&s, argv + 1, form);
	if (!code)
		code = compare(&s, form);
	sides_done(&s);
	return code;
}

const struct command command_diff = { &spec, run };
