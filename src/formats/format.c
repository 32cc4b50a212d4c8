/* format.c: the list of formats, and reading files of any format. */
#include "format.h"

#include "chart.h"
#include "demangle_profile.h"
#include "guess.h"
#include <string.h>

const struct format *const formats[] = {
	&format_strobe,
	&format_folded,
	&format_xhprof,
	&format_xhprof_json,
	&format_pprof,
	&format_speedscope,
	&format_callgrind,
	&format_chrome,
	&format_perf,
	&format_stap,
	&format_dtrace,
	&format_bpftrace,
	&format_gdb,
	&format_eu_stack,
	&format_go,
	&format_phpspy,
	&format_xdebug,
	&format_spx,
	&format_perf_sched,
	NULL
};

const struct format *format_by_name(const char *name)
{
	for (const struct format *const *f = formats; *f; f++)
		if (!strcmp((*f)->name, name))
			return *f;
	return NULL;
}

/* Tells whether `name` is `suffix`, or ends with a dot and it. */
static bool ends_with(struct str name, const char *suffix, size_t n)
{
	return name.n >= n && !memcmp(name.p + name.n - n, suffix, n) && (name.n == n || name.p[name.n - n - 1] == '.');
}

/* Returns the length of the longest matching suffix in the space separated list; 0 if none matches. */
static size_t suffix_length(const char *list, struct str name)
{
	size_t longest = 0;

	while (*list) {
		size_t n = strcspn(list, " ");

		if (n > longest && n < name.n && ends_with(name, list, n))
			longest = n;
		list += n;
		list += strspn(list, " ");
	}
	return longest;
}

int format_write(const struct format *f, const struct profile *p, uint32_t column, struct buf *out, struct err *err)
{
	_cleanup_(profile_freep) struct profile *plain = p->node_lines && !f->has_lines ? profile_without_lines(p) : NULL;

	return f->write(plain ? plain : p, column, out, err);
}

const struct format *format_by_path(const char *path)
{
	const char *slash = strrchr(path, '/'), *start = slash ? slash + 1 : path;
	struct str name = { start, strlen(start) };
	const struct format *best = NULL;
	size_t longest = 0;

	/* The suffix of a compressed file is the one before .gz or .zst. */
	name.n -= suffix_length("gz", name) ? 3 : suffix_length("zst", name) ? 4 : 0;
	/* Valgrind's file names end with the number of the process. */
	if (name.n >= 13 && !memcmp(name.p, "callgrind.out", 13))
		return &format_callgrind;
	for (const struct format *const *f = formats; *f; f++) {
		size_t n = suffix_length((*f)->suffixes, name);

		if (n > longest) {
			best = *f;
			longest = n;
		}
	}
	return best;
}

static const struct format *format_by_content(const char *bytes, size_t n)
{
	const struct format *best = NULL;
	int best_score = 0;

	for (const struct format *const *f = formats; *f; f++) {
		int score = (*f)->sniff ? (*f)->sniff(bytes, n < FORMAT_SNIFF_MAX ? n : FORMAT_SNIFF_MAX) : 0;

		if (score > best_score && (*f)->read) {
			best = *f;
			best_score = score;
		}
	}
	return best;
}

static int report_unknown(const struct input *in, struct str start, struct err *err)
{
	_cleanup_(buf_done) struct buf guess = { 0 };

	buf_init(&guess);
	guess_content(start.p, start.n, &guess);
	return err_set(err, -ENOTSUP, "'%s' is not in a known profile format: %s", in->name, guess.data);
}

static int read_lines_into(struct input *in, const struct format_options *o, struct err *err)
{
	struct str line;

	while (input_line(in, &line))
		o->take_line(o->take_data, line);
	return input_end(in, err);
}

static bool has_parts(const struct profile *p)
{
	for (uint32_t i = 0; i < p->column_count; i++)
		if (profile_scale(p, i) != 1)
			return true;
	return false;
}

static int read_beside(const struct format *f, struct input *in, struct profile *p, const struct format_options *o,
		       struct err *err)
{
	_cleanup_(profile_freep) struct profile *one = profile_new();
	int r = f->read(one, in, o, err);

	if (r >= 0 && !profile_columns_fit(p, one))
		return err_set(err, -E2BIG, "it would make more than %u value columns in all", PROFILE_COLUMNS);
	if (r >= 0)
		profile_merge(p, one);
	return r;
}

/* Readers add whole counts to the tree, or make counts finer themselves. If `p` has fractional counts or edges, which
 * have to match, they read into a separate profile. */
static int load_as(const struct format *f, struct input *in, struct profile *p, const struct format_options *o,
		   struct err *err)
{
	bool more;
	int r;

	if (o->take_line && f == &format_folded)
		return read_lines_into(in, o, err);
	more = p->node_count > 1;
	r = p->edges || has_parts(p) ? read_beside(f, in, p, o, err) : f->read(p, in, o, err);
	if (more)
		p->chart = chart_free(p->chart);
	/* Folded stacks were symbolized by other tools, and must stay comparable with theirs. */
	if (r >= 0 && f != &format_folded && !o->script_values)
		demangle_profile(p);
	return r;
}

int format_load_input(struct input *in, struct profile *p, const struct format_options *o, struct err *err)
{
	static const struct format_options defaults;
	struct str start = input_peek(in, FORMAT_SNIFF_MAX);
	const struct format *f = o && o->format ? o->format : format_by_content(start.p, start.n);
	struct err why = { 0 };
	int r;

	if (in->err.code)
		return err_set(err, in->err.code, "cannot read '%s': %s", in->name, in->err.text);
	if (start.n == 0)
		return err_set(err, -ENODATA, "'%s' is empty, so it has no profile", in->name);
	/* A caller with take_line accepts any text and reports invalid lines itself; and text that may be folded
	 * stacks is not detected as another format. */
	if (o && o->take_line && !o->format &&
	    ((!f && !memchr(start.p, 0, start.n)) || format_folded.sniff(start.p, start.n) >= 70))
		f = &format_folded;
	if (!f)
		return report_unknown(in, start, err);
	if (o && o->time_range && !f->has_times)
		return err_set(err, -ENOTSUP, "'%s' (%s) has no timestamps, so no time "
					      "range can be selected", in->name, f->name);
	r = load_as(f, in, p, o ? o : &defaults, &why);
	/* A read error is the cause, rather than the reader's complaint about truncated input. */
	if (in->err.code)
		return err_set(err, in->err.code, "cannot read '%s': %s", in->name, in->err.text);
	if (r)
		err_set(err, why.code ? why.code : -EINVAL, "'%s' (%s): %s", in->name, f->name, why.text);
	return r;
}

int format_load_limited(const char *name, const char *bytes, size_t n, size_t limit, struct profile *p, struct err *err)
{
	struct err why = { 0 };
	struct input in;
	int r = input_memory(&in, name, bytes, n, limit, &why);

	r = r < 0 ? err_set(err, r, "cannot read '%s': %s", name, why.text) : format_load_input(&in, p, NULL, err);
	input_close(&in);
	return r;
}

int format_load_bytes(const char *name, const char *bytes, size_t n, struct profile *p, struct err *err)
{
	return format_load_limited(name, bytes, n, FORMAT_INPUT_MAX, p, err);
}

int format_load(const char *path, struct profile *p, const struct format_options *o, struct err *err)
{
	struct input in;
	int r = input_open(&in, path, FORMAT_INPUT_MAX, err);

	if (r >= 0)
		r = format_load_input(&in, p, o, err);
	input_close(&in);
	return r;
}

int format_whole(struct input *in, size_t limit, struct str *ret, struct err *err)
{
	if (limit < in->limit)
		in->limit = limit;
	return input_all(in, ret, err);
}

int format_read_bytes(const struct format *f, struct profile *p, const char *bytes, size_t n, struct err *err)
{
	static const struct format_options defaults;
	struct input in;
	int r = input_memory(&in, "memory", bytes, n, UINT64_MAX, err);

	/* Reads the bytes unchanged, even if they happen to begin like a compressed file. */
	if (r < 0 || in.packed) {
		input_close(&in);
		return r < 0 ? r : err_set(err, -EINVAL, "it is compressed");
	}
	r = f->read(p, &in, &defaults, err);
	input_close(&in);
	return r;
}
