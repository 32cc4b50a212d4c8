/* inputs.c: reads the input files of a command and adds them up. */

#include "inputs.h"

#include "mem.h"
#include "report.h"
#include "text.h"

#include <string.h>
#include <sys/stat.h>

#define NAMED_FILES	3u		/* files named in a message; others are only counted */

/* The default output of `strobe run`. */
static const char recorded[] = "profile.strobe";

/* Copies names, since the array may grow with each file. */
static void note_columns(struct inputs *in, const char *file)
{
	GROW(&in->list, &in->list_capacity, in->list_count + 1);
	in->list[in->list_count++] = (struct inputs_file){ file, in->profile->named_columns };
	for (uint32_t i = 0; i < in->profile->column_count; i++)
		memcpy(in->names[i], in->profile->columns[i].name, sizeof(in->names[i]));
}

static int load(struct inputs *in, const struct command_spec *spec, const char *file)
{
	struct err err = { 0 };
	bool is_url = profile_url_is(file);
	int r;

	in->profile->named_columns = 0;
	if (profile_url_refuse_store(file, &err) < 0)
		return command_fail(spec, &err);
	r = is_url ? profile_url_load(file, in->profile, in->options, in->column, sizeof(in->column), &err) :
		     format_load(file, in->profile, in->options, &err);
	in->is_comparison |= profile_url_is_comparison(file);
	if (!in->first)
		in->first = file;
	in->files++;
	if (r == -ENODATA) {
		in->empty_files++;
		in->explained_empty += is_url;
		if (is_url)
			fprintf(stderr, "strobe %s: nothing was sampled: '%s': %s\n", spec->name, file, err.text);
		return 0;
	}
	if (r < 0)
		return command_fail(spec, &err);
	note_columns(in, file);
	if (r > 0)
		fprintf(stderr, "strobe %s: %s\n", spec->name, err.text);
	return 0;
}

/* Time is derived from samples once all files have been read, so an input with samples has time. */
static void add_time(struct inputs *in)
{
	uint32_t samples = profile_find_column(in->profile, "samples"), time = in->profile->column_count;

	profile_add_time(in->profile);
	if (in->profile->column_count == time)
		return;
	memcpy(in->names[time], in->profile->columns[time].name, sizeof(in->names[time]));
	for (size_t i = 0; i < in->list_count; i++)
		if (in->list[i].columns & 1u << samples)
			in->list[i].columns |= 1u << time;
}

/* Whether standard input is fed: a pipe or a file, unlike a terminal or /dev/null. */
static bool is_fed(int fd)
{
	struct stat st;

	return fstat(fd, &st) == 0 && (S_ISFIFO(st.st_mode) || S_ISREG(st.st_mode) || S_ISSOCK(st.st_mode));
}

static int load_default(struct inputs *in, const struct command_spec *spec)
{
	struct err err = { 0 };

	if (is_fed(STDIN_FILENO))
		return load(in, spec, "-");
	if (access(recorded, R_OK) == 0)
		return load(in, spec, recorded);
	err_set(&err, -ENOENT, "no input: there is no %s here; record one with `strobe run -- php script.php`, or name a file",
		recorded);
	return command_fail(spec, &err);
}

#define LARGE_FILES	((uint64_t)4 << 20)		/* input size that makes huge pages worthwhile */

static void prefer_huge_pages_for(char **files, size_t count)
{
	uint64_t bytes = 0;
	struct stat st;

	for (size_t i = 0; i < count; i++)
		if (stat(files[i], &st) == 0 && S_ISREG(st.st_mode))
			bytes += (uint64_t)st.st_size;
	if (bytes >= LARGE_FILES)
		mem_prefer_huge_pages((size_t)1 << 30);
}

/* Columns of a comparison of calls have other names, so a label of the file tells that it is one. */
static void mark_calls(struct profile *p)
{
	const char *compared = labels_get(&p->labels, "compared");
	uint32_t before = profile_find_column(p, "before"), after = profile_find_column(p, "after");

	if (compared && !strcmp(compared, "calls") && before != UINT32_MAX && after != UINT32_MAX)
		p->columns[before].counts_calls = p->columns[after].counts_calls = true;
}

int inputs_load(struct inputs *in, const struct command_spec *spec, char **files, size_t count)
{
	return inputs_load_as(in, spec, NULL, files, count);
}

int inputs_load_as(struct inputs *in, const struct command_spec *spec, const struct format_options *o, char **files,
		   size_t count)
{
	int code = 0;

	prefer_huge_pages_for(files, count);
	*in = (struct inputs){ .profile = profile_new(), .options = o };
	profile_keep_lines(in->profile, o && o->keep_lines);
	profile_keep_chart(in->profile, o && o->keep_chart);
	if (count == 0)
		code = load_default(in, spec);
	for (size_t i = 0; i < count && !code; i++)
		code = load(in, spec, files[i]);
	if (!code) {
		add_time(in);
		mark_calls(in->profile);
	}
	return code;
}

static int no_such_format(const struct command_spec *spec, const char *name)
{
	_cleanup_(buf_done) struct buf known = { 0 };
	const char *names[64] = { NULL }, *nearest;
	size_t n = 0;

	buf_init(&known);
	for (const struct format *const *f = formats; *f; f++)
		if ((*f)->read && n + 1 < ARRAY_SIZE(names))
			names[n++] = (*f)->name;
	options_put_choices(&known, names);
	nearest = options_nearest(name, names);
	if (nearest)
		return command_usage(spec, "invalid --from '%s'; did you mean '%s'?", name, nearest);
	return command_usage(spec, "invalid --from '%s'; use %s", name, known.data);
}

int inputs_format(const struct command_spec *spec, const char *name, const struct format **ret_format)
{
	*ret_format = name ? format_by_name(name) : NULL;
	if (name && (!*ret_format || !(*ret_format)->read))
		return no_such_format(spec, name);
	return 0;
}

void inputs_format_choices(struct buf *out)
{
	buf_puts(out, "from");
	for (const struct format *const *f = formats; *f; f++)
		if ((*f)->read)
			buf_printf(out, " %s", (*f)->name);
	buf_putc(out, '\n');
}

void inputs_done(struct inputs *in)
{
	in->profile = profile_free(in->profile);
	free(in->list);
	in->list = NULL;
	in->list_count = in->list_capacity = 0;
}

static void put_where(const struct inputs *in, struct buf *out)
{
	if (in->files > 1)
		buf_printf(out, "%zu files", in->files);
	else if (!strcmp(in->first, "-"))
		buf_puts(out, "standard input");
	else
		buf_printf(out, "'%s'", in->first);
}

static size_t count_without(const struct inputs *in, uint32_t column)
{
	size_t n = 0;

	for (size_t i = 0; i < in->list_count; i++)
		n += !(in->list[i].columns & 1u << column);
	return n;
}

/* "'a', 'b' and 3 more" */
static void put_files_without(const struct inputs *in, uint32_t column, size_t count, struct buf *out)
{
	size_t shown = 0, most = count > NAMED_FILES + 1 ? NAMED_FILES : count;

	for (size_t i = 0; i < in->list_count && shown < most; i++) {
		if (in->list[i].columns & 1u << column)
			continue;
		buf_puts(out, !shown ? "" : shown + 1 == count ? " and " : ", ");
		buf_printf(out, strcmp(in->list[i].name, "-") ? "'%s'" : "standard input", in->list[i].name);
		shown++;
	}
	if (shown < count)
		buf_printf(out, " and %zu more", count - shown);
}

static void put_common_columns(const struct inputs *in, struct buf *out)
{
	const char *before = "all files have ";
	uint32_t common = UINT32_MAX;

	for (size_t i = 0; i < in->list_count; i++)
		common &= in->list[i].columns;
	for (uint32_t i = 0; i < PROFILE_COLUMNS; i++)
		if (common & 1u << i) {
			buf_printf(out, "%s'%s'", before, in->names[i]);
			before = ", ";
		}
	buf_puts(out, common ? " (--column)" : "no column is common to all files");
}

static uint32_t find_name(const struct inputs *in, const char *name)
{
	uint32_t i = 0;

	while (i < PROFILE_COLUMNS && strcmp(in->names[i], name) != 0)
		i++;
	return i;
}

/* Files whose lines are kept unparsed have no columns. */
static void warn_files_without(struct inputs *in, const struct command_spec *spec, const char *name)
{
	_cleanup_(buf_done) struct buf b = { 0 }, plain = { 0 };
	uint32_t column = find_name(in, name);
	size_t count;

	if (column == PROFILE_COLUMNS || (in->warned & 1u << column) || (in->options && in->options->take_line))
		return;
	count = count_without(in, column);
	if (!count || count == in->list_count)
		return;
	buf_init(&b);
	put_files_without(in, column, count, &b);
	buf_printf(&b, count == 1 ? " has no column '%s' and adds nothing to it; " : " have no column '%s' and add "
		   "nothing to it; ", name);
	put_common_columns(in, &b);
	buf_init(&plain);
	text_put_plain(&plain, (struct str){ b.data, b.size });
	fprintf(stderr, "strobe %s: %s\n", spec->name, plain.data);
	in->warned |= 1u << column;
}

int inputs_column(struct inputs *in, const struct command_spec *spec, const char *wanted, uint32_t *ret_column)
{
	const struct profile *p = in->profile;
	_cleanup_(buf_done) struct buf sentence = { 0 };
	struct err err = { 0 };

	if (!wanted && *in->column && profile_find_column(p, in->column) != UINT32_MAX)
		wanted = in->column;
	if (wanted && !strcmp(wanted, "before") && profile_find_column(p, "before_measured") != UINT32_MAX)
		wanted = "before_measured";
	*ret_column = p->column_count ? profile_pick_column(p, wanted) : UINT32_MAX;
	if (*ret_column != UINT32_MAX)
		warn_files_without(in, spec, p->columns[*ret_column].name);
	if (*ret_column != UINT32_MAX || p->column_count == 0)
		return 0;

	buf_init(&sentence);
	put_where(in, &sentence);
	buf_printf(&sentence, in->files > 1 ? " have no column '%s'; they have " : " has no column '%s'; it has ",
		   wanted);
	for (uint32_t i = 0; i < p->column_count; i++) {
		buf_puts(&sentence, i == 0 ? "" : i + 1 == p->column_count ? " and " : ", ");
		buf_puts(&sentence, p->columns[i].name);
	}
	err_set(&err, -ENOENT, "%s", sentence.data);
	return command_fail(spec, &err);
}

void inputs_difference(const struct inputs *in, const char *wanted, uint32_t *column, uint32_t *ret_before)
{
	uint32_t after = profile_find_column(in->profile, "after");

	*ret_before = wanted || after == UINT32_MAX ? UINT32_MAX : profile_find_column(in->profile, "before");
	if (*ret_before != UINT32_MAX)
		*column = after;
}

void inputs_report_side(const struct profile *p, const struct command_spec *spec, uint32_t column)
{
	if (column != UINT32_MAX && column == profile_find_column(p, "after") && profile_find_column(p, "before") != UINT32_MAX)
		inputs_report_second_side(spec);
}

void inputs_report_second_side(const struct command_spec *spec)
{
	fprintf(stderr, "strobe %s: the input is a comparison, and this is its second side; `strobe diff` shows both\n", spec->name);
}

static bool has_values(const struct profile *p, uint32_t column, bool any_sign)
{
	for (uint32_t i = 0; column != UINT32_MAX && i < p->node_count; i++)
		if (p->columns[column].self[i] > 0 || (any_sign && p->columns[column].self[i] < 0))
			return true;
	return false;
}

bool inputs_have_values(const struct inputs *in, const struct command_spec *spec, uint32_t column, bool any_sign)
{
	const struct profile *p = in->profile;
	_cleanup_(buf_done) struct buf b = { 0 };

	if (has_values(p, column, any_sign))
		return true;
	if (in->explained_empty == in->files)
		return false;
	buf_init(&b);
	buf_puts(&b, "nothing was sampled: ");
	put_where(in, &b);
	if (in->empty_files == in->files) {
		buf_puts(&b, in->files == 1 ? " is empty (0 bytes)" : " are empty (0 bytes)");
	} else {
		buf_printf(&b, " with %u stack%s", profile_stacks(p), profile_stacks(p) == 1 ? "" : "s");
		if (column != UINT32_MAX)
			buf_printf(&b, ", none with a value%s in column '%s'",
				   profile_below_zero(p, column, NULL) ? " above zero" : "", p->columns[column].name);
	}
	fprintf(stderr, "strobe %s: %s\n", spec->name, b.data);
	return false;
}

void inputs_show_names(struct inputs *in)
{
	in->profile = profile_show_names(in->profile);
}

void inputs_replace(struct inputs *in, struct profile *by_this)
{
	profile_free(in->profile);
	in->profile = by_this;
}

static void explain_empty_result(const struct command_spec *spec, uint32_t stacks, const char *focus, const char *ignore)
{
	fprintf(stderr, "strobe %s: nothing is left of %u stack%s: ", spec->name, stacks, stacks == 1 ? "" : "s");
	if (focus && ignore)
		fprintf(stderr, "each lacks a function that matches '%s' or has one that matches '%s'\n", focus, ignore);
	else if (focus)
		fprintf(stderr, "none has a function that matches '%s'\n", focus);
	else
		fprintf(stderr, "each has a function that matches '%s'\n", ignore);
}

int inputs_select(struct inputs *in, const struct command_spec *spec, const char *focus, const char *ignore)
{
	_cleanup_(freep) bool *wanted = xcalloc((size_t)in->profile->frame_count + 1, sizeof(*wanted));
	_cleanup_(freep) bool *unwanted = xcalloc((size_t)in->profile->frame_count + 1, sizeof(*unwanted));
	uint32_t stacks = profile_stacks(in->profile);
	struct err err = { 0 };

	if (!focus && !ignore)
		return 0;
	if ((focus && report_match(in->profile, focus, wanted, &err) < 0) ||
	    (ignore && report_match(in->profile, ignore, unwanted, &err) < 0))
		return command_usage(spec, "%s", err.text);
	inputs_replace(in, report_filter(in->profile, focus ? wanted : NULL, ignore ? unwanted : NULL));
	if (!stacks || profile_stacks(in->profile))
		return 0;
	explain_empty_result(spec, stacks, focus, ignore);
	return EXIT_NO_SAMPLES;
}
