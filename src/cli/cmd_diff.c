/* cmd_diff.c: `strobe diff`: what changed between two profiles. */

#include "commands.h"

#include "amount.h"
#include "diff_picture.h"
#include "diff_report.h"
#include "folded_write.h"
#include "inputs.h"
#include "io.h"
#include "text.h"

#include <string.h>
#include <sys/ioctl.h>

static const char *normalize, *by = "self", *column, *format, *output = "-";
static double fail_over = -1, sigma;
static long rows = 30;
static struct diff_picture picture;
static bool by_total_scale, strip_hex, all, force, compat, folded, json, csv;

static const struct option_spec options[] = {
	{ OPTION_STRING, 'o', "output", "OUT", &output,
	  "Where the result goes: standard output (-, the default), or a file. One that ends in .svg, .svgz or "
	  ".html is a picture, and .json, .csv and .folded say what they are too." },
	{ OPTION_STRING, 'f', "format", "FORM", &format, "table (default), json, csv, folded or svg." },
	{ OPTION_FLAG, 0, "folded", NULL, &folded,
	  "As -f folded: each stack with its two counts, as difffolded.pl does." },
	{ OPTION_FLAG, 0, "json", NULL, &json, "As -f json." },
	{ OPTION_FLAG, 0, "csv", NULL, &csv, "As -f csv." },
	{ OPTION_DOUBLE, 0, "fail-over", "PERCENT", &fail_over,
	  "End with 3 if everything together, or any function with what it calls, grew by more than PERCENT of "
	  "the whole before, and by more than the noise." },
	{ OPTION_HEADING, 0, NULL, NULL, NULL, "What is compared" },
	{ OPTION_STRING, 0, "normalize", "HOW", &normalize,
	  "Scale A to B: total (shares are compared), rate (per second), requests (per request) or none. Unless "
	  "given: total if both were sampled, none if they were measured, and none for folded stacks." },
	{ OPTION_FLAG, 'n', NULL, NULL, &by_total_scale,
	  "As --normalize total; the name that it has in difffolded.pl." },
	{ OPTION_FLAG, 's', "strip-hex", NULL, &strip_hex, "Take addresses out of names: 0x7f01 becomes 0x..." },
	{ OPTION_STRING, 0, "column", "NAME", &column,
	  "What is compared: samples, wall_ns, cpu_ns, calls, memory_bytes, ...; unless given, one that both have. "
	  "--metric is the same." },
	{ OPTION_STRING, 0, "metric", "NAME", &column, NULL },
	{ OPTION_FLAG, 0, "force", NULL, &force, "Compare also what makes no sense, such as wall time with CPU time." },
	{ OPTION_FLAG, 0, "compat", NULL, &compat,
	  "Cut scaled counts to whole numbers as difffolded.pl does, which loses up to one per stack." },
	{ OPTION_HEADING, 0, NULL, NULL, NULL, "The table" },
	{ OPTION_STRING, 0, "by", "self|total", &by,
	  "Most changed first in what: self (in the function itself; default) or total (with what it calls)." },
	{ OPTION_INT, 'r', "rows", "ROWS", &rows, "Rows to print; 30 unless given, 0 for all." },
	{ OPTION_FLAG, 'a', "all", NULL, &all,
	  "Also functions that changed by no more than the noise, marked with ~." },
	{ OPTION_DOUBLE, 0, "sigma", "N", &sigma,
	  "Noise in standard errors; unless given, so many that chance shows a change in one of twenty tables." },
	{ OPTION_HEADING, 0, NULL, NULL, NULL, "The picture" },
	{ OPTION_STRING, 0, "width-of", "WHAT", &picture.width_of,
	  "What widths mean: maximum (of before and after, so that what is gone is seen too; default), after, "
	  "before or difference." },
	{ OPTION_STRING, 0, "delta", "WHICH", &picture.delta,
	  "What colours mean: the change of a frame with all above it (inclusive; default) or of itself (self). Orange "
	  "is more, blue is less." },
	{ OPTION_STRING, 0, "title", "TEXT", &picture.o.title, "Heading; \"Difference\" unless given." },
	{ OPTION_STRING, 0, "subtitle", "TEXT", &picture.o.subtitle, "A second, smaller line below the heading." },
	{ OPTION_DOUBLE, 0, "width", "PX", &picture.o.width, "Width of the picture; 1200 unless given." },
	{ OPTION_FLAG, 0, "inverted", NULL, &picture.o.inverted, "Icicles: the root on top." },
	{ OPTION_FLAG, 0, "reverse", NULL, &picture.o.reverse, "Stacks turned over: merged from the leaves." },
	{ 0 }
};

static const struct command_spec spec = {
	.name = "diff",
	.usage = "A B [-o OUT]",
	.summary = "compare two profiles: what grew, shrank, came and went",
	.description =
		"Compares profile A (before) with profile B (after), each of any known format, one of them "
		"possibly - for standard input, and prints a table of functions, most changed first: the share before "
		"and after, the change in percent of the whole before, how much of it may be chance, and the values. "
		"With one file, that of folded stacks with two counts, it shows that difference.\n\n"
		"Two samples of one thing are never equal. Of sampled profiles only changes beyond the noise are "
		"shown: a number of standard errors of the share, more for more functions.\n\n"
		"Profiles that cannot be compared are refused: different clocks, different units, samples of different "
		"periods by number. A comparison that says little, such as one of 12 samples, gets a warning.\n\n"
		"The exit code is 3 when something grew by more than --fail-over, and 4 when nothing was sampled.",
	.examples =
		"strobe diff monday.strobe tuesday.strobe\n"
		"strobe diff before.folded after.folded -o diff.svg\n"
		"strobe diff --by total --all -r 100 before.folded after.folded\n"
		"strobe diff base.strobe new.strobe --fail-over 1 || echo slower\n"
		"strobe diff --folded -s before.folded after.folded -o both.folded\n",
	.options = options,
};

enum form { FORM_TABLE, FORM_JSON, FORM_CSV, FORM_FOLDED, FORM_SVG };

static const char *const form_names[] = {
	[FORM_TABLE] = "table", [FORM_JSON] = "json", [FORM_CSV] = "csv", [FORM_FOLDED] = "folded",
	[FORM_SVG] = "svg", NULL
};

/* What is being compared: one profile twice if it is a difference already. */
struct sides {
	struct inputs a, b;
	const struct profile *before, *after;
	uint32_t column_before, column_after;
	char name_before[200], name_after[200];	/* for sentences */
	bool is_difference;
};

/* --- Options --- */

static int find_name(const char *option, const char *value, const char *const *names, int *ret)
{
	const char *nearest = options_nearest(value, names);

	for (*ret = 0; names[*ret]; ++*ret)
		if (!strcmp(names[*ret], value))
			return 0;
	if (nearest)
		return command_usage(&spec, "there is no %s '%s'; did you mean '%s'?", option, value, nearest);
	return command_usage(&spec, "there is no %s '%s'", option, value);
}

static int choose_form(enum form *ret)
{
	int form = FORM_TABLE, code;

	if (folded + json + csv + (format != NULL) > 1)
		return command_usage(&spec, "more than one format was asked for");
	if (format && (code = find_name("format", format, form_names, &form)))
		return code;
	if (folded || (!format && (text_path_ends(output, ".folded") || text_path_ends(output, ".collapsed"))))
		form = FORM_FOLDED;
	else if (json || (!format && text_path_ends(output, ".json")))
		form = FORM_JSON;
	else if (csv || (!format && text_path_ends(output, ".csv")))
		form = FORM_CSV;
	else if (!format && diff_picture_is(output))
		form = FORM_SVG;
	*ret = (enum form)form;
	return 0;
}

static int choose_scale(const struct sides *s, enum form form, enum diff_scale *ret)
{
	static const char *const names[] = {
		[DIFF_AS_IT_IS] = "none", [DIFF_BY_TOTAL] = "total", [DIFF_BY_RATE] = "rate",
		[DIFF_BY_REQUESTS] = "requests", NULL
	};
	bool are_sampled = diff_sample_weight(s->before, s->column_before) > 0 &&
			   diff_sample_weight(s->after, s->column_after) > 0;
	int scale, code;

	if (by_total_scale && normalize && strcmp(normalize, "total"))
		return command_usage(&spec, "-n is --normalize total, and --normalize %s is something else", normalize);
	scale = by_total_scale || (are_sampled && form != FORM_FOLDED) ? DIFF_BY_TOTAL : DIFF_AS_IT_IS;
	if (normalize && (code = find_name("--normalize", normalize, names, &scale)))
		return code;
	*ret = (enum diff_scale)scale;
	return 0;
}

static int check_options(void)
{
	if (strcmp(by, "self") && strcmp(by, "total"))
		return command_usage(&spec, "--by '%s' is not known; it may be self or total", by);
	if (rows < 0)
		return command_usage(&spec, "--rows %ld makes no sense; 0 is all", rows);
	if (sigma < 0)
		return command_usage(&spec, "--sigma %g makes no sense; it is a number of standard errors", sigma);
	return 0;
}

/* --- Inputs --- */

static const char *name_of(const char *file)
{
	return strcmp(file, "-") ? file : "standard input";
}

static int load_one(struct sides *s, char **files)
{
	uint32_t before, after;
	int code = inputs_load(&s->a, &spec, files, 1);

	if (code)
		return code;
	before = profile_find_column(s->a.profile, "before");
	after = profile_find_column(s->a.profile, "after");
	if (before == UINT32_MAX || after == UINT32_MAX)
		return command_usage(&spec, "two profiles are needed, A (before) and B (after); '%s' is one, and no "
				     "difference", files[0]);
	s->before = s->after = s->a.profile;
	s->column_before = before;
	s->column_after = after;
	snprintf(s->name_before, sizeof(s->name_before), "%.180s, first count", name_of(files[0]));
	snprintf(s->name_after, sizeof(s->name_after), "%.180s, second count", name_of(files[0]));
	s->is_difference = true;
	return 0;
}

/* difffolded.pl compares with an empty file too: everything is new, or gone. */
static void give_column(struct inputs *a, struct inputs *b)
{
	struct profile *empty = a->profile->column_count ? b->profile : a->profile;
	const struct profile *other = empty == a->profile ? b->profile : a->profile;
	uint32_t shown = profile_pick_column(other, column);

	if (!empty->column_count && shown != UINT32_MAX)
		profile_column(empty, other->columns[shown].name, other->columns[shown].unit);
}

static void refine_like(struct profile *p, uint32_t i, const struct profile *other, uint32_t other_i)
{
	if (profile_scale(other, other_i) != 1 && !strcmp(p->columns[i].unit, "count"))
		profile_refine(p, i);
}

/* Parts of a count are in both, or in none. */
static void align_parts(struct sides *s)
{
	if (s->column_before == UINT32_MAX || s->column_after == UINT32_MAX)
		return;
	refine_like(s->b.profile, s->column_after, s->a.profile, s->column_before);
	refine_like(s->a.profile, s->column_before, s->b.profile, s->column_after);
}

static int load_two(struct sides *s, char **files, enum form form)
{
	uint32_t unused;
	int code;

	if (!strcmp(files[0], "-") && !strcmp(files[1], "-"))
		return command_usage(&spec, "only one of A and B can be standard input");
	if ((code = inputs_load(&s->a, &spec, files, 1)) ||
	    (code = inputs_load(&s->b, &spec, files + 1, 1)))
		return code;
	s->before = s->a.profile;
	s->after = s->b.profile;
	snprintf(s->name_before, sizeof(s->name_before), "%.199s", name_of(files[0]));
	snprintf(s->name_after, sizeof(s->name_after), "%.199s", name_of(files[1]));
	if (form == FORM_FOLDED)
		give_column(&s->a, &s->b);
	diff_columns(s->before, s->after, column, &s->column_before, &s->column_after);
	align_parts(s);
	if (column && ((s->before->column_count && (code = inputs_column(&s->a, &spec, column, &unused))) ||
		       (s->after->column_count && (code = inputs_column(&s->b, &spec, column, &unused)))))
		return code;
	if (form == FORM_FOLDED && s->column_before != UINT32_MAX && s->column_after != UINT32_MAX)
		return 0;
	if (!inputs_have_values(&s->a, &spec, s->column_before, true) ||
	    !inputs_have_values(&s->b, &spec, s->column_after, true))
		return EXIT_NOTHING;
	return 0;
}

/* Says what speaks against the comparison. Returns 0 or an exit code. */
static int tell_doubts(const struct sides *s, enum diff_scale scale, enum form form)
{
	struct diff_doubts doubts;
	struct err err = { 0 };

	diff_check(s->before, s->column_before, s->name_before, s->after, s->column_after, s->name_after, scale,
		   &doubts);
	for (size_t i = 0; i < doubts.count; i++) {
		if (doubts.items[i].fatal && !force) {
			err_set(&err, -EINVAL, "these cannot be compared: %s; --force compares them all the same",
				doubts.items[i].text);
			return command_cannot(&spec, &err);
		}
		if (form != FORM_FOLDED || doubts.items[i].fatal)
			fprintf(stderr, "strobe diff: %s\n", doubts.items[i].text);
	}
	return 0;
}

/* --- Output --- */

static size_t terminal_width(void)
{
	struct winsize size;

	return isatty(STDOUT_FILENO) && !ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) ? size.ws_col : 0;
}

static int put_folded(const struct diff *d, struct buf *out)
{
	struct err err = { 0 };
	int left_out = folded_write_difference(d->profile, d->before, d->after, d->measured, out, &err);

	if (left_out > 0)
		fprintf(stderr, "strobe diff: %s\n", err.text);
	if (left_out < 0 || io_write_file(output, out->data, out->size, &err) < 0)
		return command_cannot(&spec, &err);
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
		return command_cannot(&spec, &err);
	return 0;
}

static int draw(const struct diff *d, const char *count_name)
{
	const char *unit = d->profile->columns[d->after].unit;

	picture.count_name = amount_is_count(amount_unit(unit)) ? count_name : NULL;
	return diff_picture_write(&picture, d, output, &spec);
}

static int tell_growth(const struct diff_report *r)
{
	_cleanup_(buf_done) struct buf name = { 0 };
	uint32_t frame;
	double change;

	if (!diff_report_grew(r, fail_over, &frame, &change))
		return EXIT_FINE;
	buf_init(&name);
	if (frame == UINT32_MAX) {
		buf_puts(&name, "everything together");
	} else {
		struct str text = profile_name(r->diff->profile, frame);

		text_put_plain(&name, text);
	}
	fprintf(stderr, "strobe diff: %s grew by %.2f%% of the whole before, which is more than %g%%\n", name.data,
		change, fail_over);
	return EXIT_DIFFERENCE;
}

static int show(const struct sides *s, const struct diff *d, enum diff_scale scale, enum form form)
{
	static const char *const compared[] = {
		[DIFF_AS_IT_IS] = "as they are", [DIFF_BY_TOTAL] = "by share of the total", [DIFF_BY_RATE] = "by rate",
		[DIFF_BY_REQUESTS] = "by request",
	};
	const char *no_color = getenv("NO_COLOR");
	struct diff_report_options o = {
		.name_before = s->name_before, .name_after = s->name_after,
		.column = s->is_difference ? "samples" : s->after->columns[s->column_after].name,
		.compared = compared[scale],
		.limit = (size_t)rows, .by_total = !strcmp(by, "total"), .all = all, .sigma = sigma,
		.color = !strcmp(output, "-") && isatty(STDOUT_FILENO) && !(no_color && *no_color),
		.width = strcmp(output, "-") ? 0 : terminal_width(),
	};
	_cleanup_(diff_report_done) struct diff_report r = { 0 };
	_cleanup_(buf_done) struct buf out = { 0 };
	bool is_report = form != FORM_SVG && form != FORM_FOLDED;
	int code;

	buf_init(&out);
	if (is_report || fail_over >= 0)
		diff_report_init(&r, d, &o);
	code = form == FORM_SVG ? draw(d, o.column) : form == FORM_FOLDED ? put_folded(d, &out) :
		put_report(&r, form, &out);
	return code || fail_over < 0 ? code : tell_growth(&r);
}

static int compare(struct sides *s, enum form form)
{
	struct diff_options o = { .strip_hex = strip_hex, .as_written = form == FORM_FOLDED, .truncate = compat };
	_cleanup_(diff_done) struct diff d = { 0 };
	struct err err = { 0 };
	int code;

	if ((code = choose_scale(s, form, &o.scale)) || (code = tell_doubts(s, o.scale, form)))
		return code;
	if (profile_diff(s->before, s->column_before, s->after, s->column_after, &o, &d, &err) < 0)
		return command_cannot(&spec, &err);
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
	if (operands != 1 && operands != 2)
		return command_usage(&spec, "two profiles are needed, A (before) and B (after)");

	code = operands == 1 ? load_one(&s, argv + 1) : load_two(&s, argv + 1, form);
	if (!code)
		code = compare(&s, form);
	inputs_done(&s.a);
	inputs_done(&s.b);
	return code;
}

const struct command command_diff = { &spec, run };
