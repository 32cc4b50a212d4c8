/* function_query.c: finds a function by its name, with its callers and callees. */

#include "function_query.h"

#include "mem.h"
#include "text.h"

#include <string.h>

/* Replaces bytes as pages and JSON do: all that cannot be shown become the same character. */
static void put_shown(struct buf *out, struct str name)
{
	buf_reset(out);
	text_put_plain(out, name);
}

/* Whether `a` is preferred to `b`, a place with the same name: places with a file come first, then the first one. */
static bool comes_before(const struct profile *p, uint32_t a, uint32_t b)
{
	bool has_file = profile_file(p, a).n > 0;

	return has_file != (profile_file(p, b).n > 0) ? has_file : profile_compare_frames(p, a, b) < 0;
}

static bool is_shown_as(struct str name, const struct buf *wanted, struct buf *shown)
{
	put_shown(shown, name);
	return shown->size == wanted->size && !memcmp(shown->data, wanted->data, wanted->size);
}

static void note_file(struct function_query *f, struct str file)
{
	for (size_t i = 0; i < f->file_count; i++)
		if (f->files[i].n == file.n && !memcmp(f->files[i].p, file.p, file.n))
			return;
	f->files = xrealloc(f->files, (f->file_count + 1) * sizeof(*f->files));
	f->files[f->file_count++] = file;
}

static int compare_files(const void *a, const void *b)
{
	return text_compare(*(const struct str *)a, *(const struct str *)b);
}

/* A function that has moved is found in either file. */
static bool is_in_file(const struct profile_query *a, uint32_t frame, const struct buf *wanted, struct buf *shown)
{
	return is_shown_as(profile_file(a->profile, frame), wanted, shown) ||
	       (a->is_diff && is_shown_as(intern_get(&a->profile->strings, a->diff.files_before[frame]), wanted, shown));
}

static size_t find_frames(struct function_query *f)
{
	const struct profile *p = f->query->profile;
	const char *text = f->query->view.function, *file = f->query->view.function_file;
	_cleanup_(buf_done) struct buf wanted = { 0 }, wanted_file = { 0 }, shown = { 0 };

	buf_init(&wanted);
	buf_init(&wanted_file);
	buf_init(&shown);
	put_shown(&wanted, profile_visible_name((struct str){ text, strlen(text) }));
	put_shown(&wanted_file, (struct str){ file ? file : "", file ? strlen(file) : 0 });
	f->of = report_no_frames(p);
	for (uint32_t i = 0; i < p->frame_count; i++) {
		if (!is_shown_as(profile_name(p, i), &wanted, &shown))
			continue;
		note_file(f, profile_file(p, i));
		if (file && !is_in_file(f->query, i, &wanted_file, &shown))
			continue;
		f->of[i] = true;
		if (!f->places++ || comes_before(p, i, f->first))
			f->first = i;
	}
	if (f->file_count)
		qsort(f->files, f->file_count, sizeof(*f->files), compare_files);
	return f->places;
}

/* Nodes of the scaled column are rounded along the tree, so sums of some of them are not exact to one unit. */
static void scale_before(const struct diff *d, int64_t *values)
{
	values[d->before] = profile_scaled(&d->scaling, values[d->measured]);
}

static void scale_edges(const struct diff *d, struct report_edges *e)
{
	scale_before(d, e->self);
	scale_before(d, e->total);
	scale_before(d, e->again);
	for (size_t i = 0; i < e->count; i++)
		scale_before(d, e->edges[i].values);
}

static int fail_as_missing(const struct function_query *f, struct err *err)
{
	const struct view *v = &f->query->view;

	if (f->file_count)
		return err_set(err, -ENOENT, "the selected profile has '%.200s' in %zu other %s, but not in '%.200s'", v->function, f->file_count,
			       f->file_count == 1 ? "file" : "files", v->function_file);
	if (v->by == REPORT_BY_OWN)
		return err_set(err, -ENOENT, "there is no function '%.200s' of your own code in the selected profile: functions of PHP and of "
			       "libraries count for those that call them", v->function);
	return err_set(err, -ENOENT, "there is no %s '%.200s' in the selected profile", report_by_name(v->by, false), v->function);
}

int function_query(struct function_query *f, const struct profile_query *a, struct err *err)
{
	*f = (struct function_query){ .query = a };
	if (!a->view.function)
		return err_set(err, -EINVAL, "function= is missing: give the whole name of a function");
	if (!find_frames(f))
		return fail_as_missing(f, err);
	report_edges(a->profile, f->of, REPORT_CALLERS, a->column, &f->callers);
	report_edges(a->profile, f->of, REPORT_CALLEES, a->column, &f->callees);
	if (a->is_diff && a->diff.measured != a->diff.before) {
		scale_edges(&a->diff, &f->callers);
		scale_edges(&a->diff, &f->callees);
	}
	return 0;
}

void function_query_done(struct function_query *f)
{
	free(f->of);
	free(f->files);
	report_edges_done(&f->callers);
	report_edges_done(&f->callees);
}

bool function_of_calls(const struct profile_query *a)
{
	return !strcmp(a->columns[a->chosen].name, "calls");
}
