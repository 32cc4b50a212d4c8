/* inputs.c: reads and adds up what a command was given. */

#include "inputs.h"

#include <string.h>
#include <sys/stat.h>

/* What `strobe run` writes unless told otherwise. */
static const char recorded[] = "profile.strobe";

static int load(struct inputs *in, const struct command_spec *spec, const char *file)
{
	struct err err = { 0 };
	int r = format_load(file, in->profile, in->options, &err);

	if (!in->first)
		in->first = file;
	in->files++;
	if (r == -ENODATA) {
		in->empty_files++;
		return 0;
	}
	if (r < 0)
		return command_cannot(spec, &err);
	if (r > 0)
		fprintf(stderr, "strobe %s: %s\n", spec->name, err.text);
	return 0;
}

/* Whether somebody feeds standard input: a pipe or a file, unlike a terminal or /dev/null. */
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
	err_set(&err, -ENOENT, "no file was given and there is no %s here; record one with `strobe run -- php "
		"script.php`, or name a file", recorded);
	return command_cannot(spec, &err);
}

int inputs_load(struct inputs *in, const struct command_spec *spec, char **files, size_t count)
{
	return inputs_load_as(in, spec, NULL, files, count);
}

int inputs_load_as(struct inputs *in, const struct command_spec *spec, const struct format_options *o, char **files,
		   size_t count)
{
	int code = 0;

	*in = (struct inputs){ .profile = profile_new(), .options = o };
	if (count == 0)
		code = load_default(in, spec);
	for (size_t i = 0; i < count && !code; i++)
		code = load(in, spec, files[i]);
	if (!code)
		profile_add_time(in->profile);
	return code;
}

static int no_such_format(const struct command_spec *spec, const char *name)
{
	_cleanup_(buf_done) struct buf known = { 0 };
	const char *names[64] = { NULL }, *nearest;
	size_t n = 0;

	buf_init(&known);
	for (const struct format *const *f = formats; *f; f++)
		if ((*f)->read && n + 1 < ARRAY_SIZE(names)) {
			buf_printf(&known, n ? ", %s" : "%s", (*f)->name);
			names[n++] = (*f)->name;
		}
	nearest = options_nearest(name, names);
	if (nearest)
		return command_usage(spec, "there is no format '%s' to read; did you mean '%s'?", name, nearest);
	return command_usage(spec, "there is no format '%s' to read; there are %s", name, known.data);
}

int inputs_from(const struct command_spec *spec, const char *name, const struct format **ret_format)
{
	*ret_format = name ? format_by_name(name) : NULL;
	if (name && (!*ret_format || !(*ret_format)->read))
		return no_such_format(spec, name);
	return 0;
}

void inputs_done(struct inputs *in)
{
	in->profile = profile_free(in->profile);
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

int inputs_column(const struct inputs *in, const struct command_spec *spec, const char *wanted, uint32_t *ret_column)
{
	const struct profile *p = in->profile;
	_cleanup_(buf_done) struct buf sentence = { 0 };
	struct err err = { 0 };

	*ret_column = p->column_count ? profile_pick_column(p, wanted) : UINT32_MAX;
	if (*ret_column != UINT32_MAX || p->column_count == 0)
		return 0;

	buf_init(&sentence);
	put_where(in, &sentence);
	buf_printf(&sentence, in->files > 1 ? " have no column '%s'; they have " : " has no column '%s'; it has ", wanted);
	for (uint32_t i = 0; i < p->column_count; i++) {
		buf_puts(&sentence, i == 0 ? "" : i + 1 == p->column_count ? " and " : ", ");
		buf_puts(&sentence, p->columns[i].name);
	}
	err_set(&err, -ENOENT, "%s", sentence.data);
	return command_cannot(spec, &err);
}

void inputs_difference(const struct inputs *in, const char *wanted, uint32_t *column, uint32_t *ret_before)
{
	uint32_t after = profile_find_column(in->profile, "after");

	*ret_before = wanted || after == UINT32_MAX ? UINT32_MAX : profile_find_column(in->profile, "before");
	if (*ret_before != UINT32_MAX)
		*column = after;
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
	buf_init(&b);
	buf_puts(&b, "nothing was sampled: ");
	put_where(in, &b);
	if (in->empty_files == in->files) {
		buf_puts(&b, in->files == 1 ? " is empty (0 bytes)" : " are empty (0 bytes)");
	} else {
		buf_printf(&b, " with %u stack%s", p->node_count - 1, p->node_count == 2 ? "" : "s");
		if (column != UINT32_MAX)
			buf_printf(&b, ", none with a value%s in column '%s'",
				   profile_below_zero(p, column, NULL) ? " above zero" : "", p->columns[column].name);
	}
	fprintf(stderr, "strobe %s: %s\n", spec->name, b.data);
	return false;
}
