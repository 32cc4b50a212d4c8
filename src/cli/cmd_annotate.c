/* cmd_annotate.c: `strobe annotate`: source lines, each with its values. */

#include "commands.h"

#include "amount.h"
#include "annotate.h"
#include "inputs.h"
#include "io.h"
#include "mem.h"
#include "source_text.h"
#include "text.h"

#include <string.h>

#define OTHERS	5u		/* files listed below the table */

static struct format_options reading;
static const char *from, *column, *focus, *ignore, *root;
static long context = 3;
static bool all, json;

static const struct option_spec options[] = {
	{ OPTION_INT, 'C', "context", "N", &context, "Context around lines with samples (default: 3)." },
	{ OPTION_FLAG, 'a', "all", NULL, &all, "Print all lines of the file." },
	{ OPTION_STRING, 0, "root", "DIR", &root,
	  "Root of source files, such as /proc/PID/root." },
	{ OPTION_STRING, 0, "column", "COLUMN", &column, "Column to show (default: the first one).",
	  "Columns are values such as samples, cpu_ns or off_cpu_ns. Alias: --metric." },
	{ OPTION_STRING, 0, "metric", "COLUMN", &column, NULL },
	{ OPTION_STRING, 0, "focus", "REGEX", &focus, "Only stacks with a function that matches." },
	{ OPTION_STRING, 0, "ignore", "REGEX", &ignore, "Leave out stacks with a function that matches." },
	{ OPTION_STRING, 0, "from", "FORMAT", &from, "Input format (default: auto-detect)." },
	PROFILE_URL_OPTION,
	{ OPTION_FLAG, 0, "json", NULL, &json, "Print JSON with plain numbers." },
	{ 0 }
};

static const struct command_spec spec = {
	.name = "annotate",
	.usage = "[PROFILE|-] [FILE|FUNCTION]",
	.summary = "print source code with the samples of each line",
	.description =
		"Prints a source file with the samples of each line: self, which includes callees without source "
		"(PHP's own functions, native code, the kernel), and total, with all callees. Recursive calls count "
		"once in the total.\n\n"
		"FILE is a path in the profile, or a unique end of one; FUNCTION is a whole name, or a part or "
		"regular expression that matches only one. The default is the file with the largest self value, or the function that the URL names. "
		"Without PROFILE it reads standard input if that is piped, else profile.strobe; "
		"it may also be the URL of a page or of the API of `strobe serve`. A single argument "
		"is the profile if there is such a file and its name does not end in .php, .phtml, .inc, .pl or "
		".pm.\n\n"
		"The profile must contain executed lines: samples of `strobe record`, `strobe run` and the extension "
		"do, and .strobe, pprof and speedscope files keep them. The source is read with your permissions; a note above it says if it "
		"is missing or was modified after the recording began. The exit code is 4 when the profile has no "
		"lines, or nothing was sampled.",
	.examples =
		"strobe annotate profile.strobe\n"
		"strobe annotate profile.strobe src/Cart.php --all\n"
		"strobe annotate profile.strobe 'Cart::total' --column off_cpu_ns\n"
		"strobe annotate --root /proc/1234/root profile.pb.gz index.php\n",
	.more_choices = inputs_format_choices,
	.options = options,
};

/* --- Arguments --- */

static bool is_profile(const char *name)
{
	struct str text = { name, strlen(name) };

	return !strcmp(name, "-") || profile_url_is(name) || (!source_text_is_name(text) && access(name, F_OK) == 0);
}

/* The file or function to show; by default the file with the largest self value. */
struct target {
	char *text;
	char *file;			/* chooses between functions of that name; NULL: the largest one */
	bool is_function;		/* from the URL of a function's page: not a file */
};

static void target_done(struct target *t)
{
	free(t->text);
	free(t->file);
}

static char *parameter(const char *url, const char *begin)
{
	struct str value = profile_url_value(url, begin);
	char *text = value.n ? xstrndup(value.p, value.n) : NULL;
	size_t n;

	for (char *at = text; at && (at = strchr(at, '+')); at++)
		*at = ' ';
	if (text && text_unescape_url(text, value.n, &n) >= 0)
		return text;
	free(text);
	return NULL;
}

/* A URL of a function's page selects that function, unless the command line names something else. */
static void take_target(struct target *t, const char *profile, const char *given)
{
	if (given) {
		t->text = xstrdup(given);
	} else if (profile && profile_url_is(profile)) {
		t->text = parameter(profile, "function=");
		t->file = parameter(profile, "function_file=");
		t->is_function = t->text != NULL;
	}
}

/* --- Choosing lines --- */

struct choice {
	struct profile *lines;		/* result of report_lines */
	bool *of;			/* by its frames */
	struct str file, function;
	uint32_t start;			/* first line of the function */
};

static void choice_done(struct choice *c)
{
	profile_free(c->lines);
	free(c->of);
}


static bool equal(struct str a, struct str b)
{
	return a.n == b.n && !memcmp(a.p, b.p, a.n);
}

/* Whether `end` is a whole-component suffix of `path`: "src/Cart.php" of "/srv/app/src/Cart.php". */
static bool ends_path(struct str path, struct str end)
{
	return end.n && path.n > end.n && path.p[path.n - end.n - 1] == '/' && !memcmp(path.p + path.n - end.n, end.p, end.n);
}

/* Returns, as strings of the profile, the files that have lines and match the name. */
static uint32_t *files_called(const struct profile *lines, struct str name, bool whole, size_t *ret_count)
{
	_cleanup_(freep) bool *seen = xcalloc(lines->strings.count + 1, sizeof(*seen));
	uint32_t *files = xcalloc((size_t)lines->frame_count + 1, sizeof(*files));

	*ret_count = 0;
	for (uint32_t f = 0; f < lines->frame_count; f++) {
		uint32_t file = lines->frames[f].file;

		if (!lines->frames[f].line || seen[file])
			continue;
		seen[file] = true;
		if (whole ? equal(profile_file(lines, f), name) : ends_path(profile_file(lines, f), name))
			files[(*ret_count)++] = file;
	}
	return files;
}

static void choose_file(struct choice *c, uint32_t file)
{
	c->file = intern_get(&c->lines->strings, file);
	for (uint32_t f = 0; f < c->lines->frame_count; f++)
		c->of[f] = c->lines->frames[f].file == file && c->lines->frames[f].line;
}

/* Returns 1 if the file was found, 0 if no file matches. */
static int find_file(struct choice *c, const char *target, struct err *err)
{
	struct str name = { target, strlen(target) };
	size_t count;
	uint32_t *files = files_called(c->lines, name, true, &count);
	int code = 0;

	if (!count) {
		free(files);
		files = files_called(c->lines, name, false, &count);
	}
	if (count == 1) {
		choose_file(c, files[0]);
		code = 1;
	} else if (count > 1) {
		err_set(err, -ENOTUNIQ,
		  "'%s' matches %zu files, including '%s' and '%s'; give a longer end of one", target, count,
			intern_get(&c->lines->strings, files[0]).p, intern_get(&c->lines->strings, files[1]).p);
		code = -ENOTUNIQ;
	}
	free(files);
	return code;
}

/* If several files have functions of that name, keeps those of `file`, or of the file whose lines have the largest
 * value. */
static void keep_one_file(struct choice *c, const struct flat_row *rows, size_t count, const char *file)
{
	uint32_t frame = UINT32_MAX;

	for (size_t i = 0; i < count && frame == UINT32_MAX; i++)
		if (c->of[rows[i].frame] && c->lines->frames[rows[i].frame].line &&
		    (!file || text_is(profile_file(c->lines, rows[i].frame), file)))
			frame = rows[i].frame;
	for (uint32_t f = 0; f < c->lines->frame_count; f++)
		c->of[f] = c->of[f] && frame != UINT32_MAX && c->lines->frames[f].line &&
			   c->lines->frames[f].file == c->lines->frames[frame].file;
	if (frame == UINT32_MAX)
		return;
	c->file = profile_file(c->lines, frame);
	c->function = profile_name(c->lines, frame);
}

static uint32_t start_of(const struct profile *p, struct str function, struct str file)
{
	for (uint32_t f = 0; f < p->frame_count; f++)
		if (equal(profile_name(p, f), function) && equal(profile_file(p, f), file) && p->frames[f].line)
			return p->frames[f].line;
	return 0;
}

static int no_lines(const char *function, struct err *err)
{
	return err_set(err, -ENOENT, "'%.200s' has no lines: it is not a function written in PHP or Perl", function);
}

static bool is_function_of(const struct profile *p, const char *name)
{
	for (uint32_t f = 0; f < p->frame_count; f++)
		if (text_is(profile_name(p, f), name))
			return true;
	return false;
}

static int find_function(struct choice *c, const struct profile *p, uint32_t number, const struct target *t, struct err *err)
{
	_cleanup_(freep) struct flat_row *rows = NULL;
	struct err why = { 0 };
	size_t count;

	profile_free(c->lines);
	c->lines = report_lines(p, true);
	free(c->of);
	c->of = report_no_frames(c->lines);
	if (report_find(c->lines, t->text, c->of, &why) < 0) {
		if (is_function_of(p, t->text))
			return no_lines(t->text, err);
		return t->is_function ? err_set(err, -ENOENT, "%s", why.text) :
					err_set(err, -ENOENT, "no file in the profile is named '%.200s', and %s", t->text, why.text);
	}
	rows = report_flat(c->lines, number, REPORT_SORT_TOTAL, &count);
	keep_one_file(c, rows, count, t->file);
	if (!c->file.n)
		return no_lines(t->text, err);
	c->start = start_of(p, c->function, c->file);
	return 0;
}

/* --- Files by the values of their lines --- */

struct file_sum {
	uint32_t file;
	int64_t self;
};

static int most_first(const void *a, const void *b)
{
	const struct file_sum *x = a, *y = b;

	if (x->self != y->self)
		return x->self > y->self ? -1 : 1;
	return x->file < y->file ? -1 : x->file > y->file;
}

/* The caller frees. */
static struct file_sum *sum_files(const struct profile *lines, uint32_t number, size_t *ret_count)
{
	struct file_sum *sums = xcalloc(lines->strings.count + 1, sizeof(*sums));
	_cleanup_(freep) struct flat_row *rows = NULL;
	size_t count, n = 0;

	rows = report_flat(lines, number, REPORT_SORT_SELF, &count);
	for (size_t i = 0; i < count; i++)
		if (lines->frames[rows[i].frame].line)
			sums[lines->frames[rows[i].frame].file].self += rows[i].self;
	for (uint32_t s = 0; s < lines->strings.count; s++)
		if (sums[s].self)
			sums[n++] = (struct file_sum){ s, sums[s].self };
	qsort(sums, n, sizeof(*sums), most_first);
	*ret_count = n;
	return sums;
}

static void put_others(const struct choice *c, const struct file_sum *sums, size_t count, int64_t whole, struct buf *out)
{
	buf_puts(out, count > 1 ? "other files, by what their lines took themselves:\n" : "");
	for (size_t i = 1; i < count && i <= OTHERS; i++) {
		buf_printf(out, "%6.1f  ", whole ? 100.0 * (double)sums[i].self / (double)whole : 0);
		text_put_plain(out, intern_get(&c->lines->strings, sums[i].file));
		buf_putc(out, '\n');
	}
	if (count > OTHERS + 1)
		buf_printf(out, "        [%zu more files]\n", count - OTHERS - 1);
}

/* --- */

static int choose(struct choice *c, const struct profile *p, uint32_t number, const struct target *t, struct err *err)
{
	_cleanup_(freep) struct file_sum *sums = NULL;
	size_t count;
	int code;

	c->lines = report_lines(p, false);
	c->of = report_no_frames(c->lines);
	if (t->text) {
		code = t->is_function ? 0 : find_file(c, t->text, err);
		return code ? code : find_function(c, p, number, t, err);
	}
	sums = sum_files(c->lines, number, &count);
	if (count)
		choose_file(c, sums[0].file);
	return 0;
}

static int print(const struct inputs *in, uint32_t number, const struct choice *c, bool others)
{
	struct annotate_options o = {
		.column = number,
		.file = c->file,
		.function = c->function,
		.start = c->start,
		.context = all ? -1 : context,
		.json = json,
		.width = command_terminal_width(STDOUT_FILENO),
		.color = command_wants_color(STDOUT_FILENO),
	};
	_cleanup_(source_text_done) struct source_text source = { 0 };
	_cleanup_(buf_done) struct buf out = { 0 };
	struct annotate_lines lines;
	struct err err = { 0 };

	if (source_text_read(&source, c->file, root, in->profile->start_ns, &err) < 0)
		return command_fail(&spec, &err);
	buf_init(&out);
	annotate_lines_of(c->lines, number, c->of, &lines);
	annotate_put(c->lines, &lines, &source, &o, &out);
	if (others && !json) {
		size_t count;
		_cleanup_(freep) struct file_sum *sums = sum_files(c->lines, number, &count);

		put_others(c, sums, count, lines.whole, &out);
	}
	annotate_lines_done(&lines);
	return io_write_all(STDOUT_FILENO, out.data, out.size, &err) < 0 ? command_fail(&spec, &err) : EXIT_OK;
}

static int explain_no_lines(const struct inputs *in)
{
	uint32_t stacks = profile_stacks(in->profile);

	fprintf(stderr, "strobe %s: none of %u stack%s has executed lines; samples of `strobe record`, `strobe run` and the extension "
		"do (unless strobe.lines is 0), and .strobe, pprof and speedscope files keep them\n", spec.name, stacks,
		stacks == 1 ? "" : "s");
	return EXIT_NO_SAMPLES;
}

static int annotate(struct inputs *in, const struct target *target)
{
	_cleanup_(choice_done) struct choice c = { 0 };
	struct err err = { 0 };
	uint32_t number;
	int code;

	inputs_show_names(in);
	if ((code = inputs_select(in, &spec, focus, ignore)) || (code = inputs_column(in, &spec, column, &number)))
		return code;
	if (!inputs_have_values(in, &spec, number, true))
		return EXIT_NO_SAMPLES;
	if (!report_has_lines(in->profile))
		return explain_no_lines(in);
	if (choose(&c, in->profile, number, target, &err) < 0)
		return command_fail(&spec, &err);
	if (!c.file.n)
		return explain_no_lines(in);
	if (!column)
		inputs_report_side(in->profile, &spec, number);
	return print(in, number, &c, !target->text);
}

static int run(int argc, char **argv)
{
	_cleanup_(target_done) struct target target = { 0 };
	struct inputs in = { 0 };
	bool has_profile;
	int operands, code;

	if ((code = command_options(&spec, argc, argv, false, &operands)) >= 0)
		return code;
	if (operands > 2)
		return command_usage(&spec,
		  "unexpected argument '%s'; give one profile, and one file or function", argv[3]);
	if (context < 0)
		return command_invalid(&spec, "context", "0 or more");
	if ((code = inputs_format(&spec, from, &reading.format)))
		return code;
	reading.keep_lines = true;
	has_profile = operands == 2 || (operands == 1 && is_profile(argv[1]));
	code = inputs_load_as(&in, &spec, &reading, argv + 1, has_profile);
	if (!code) {
		take_target(&target, has_profile ? argv[1] : NULL, operands > has_profile ? argv[operands] : NULL);
		code = annotate(&in, &target);
	}
	inputs_done(&in);
	return code;
}

const struct command command_annotate = { &spec, run };
