/* function_query.c: finds a function by its name, with its callers and callees. */

#include "function_query.h"

#include "mem.h"
#include "text.h"

#include <string.h>

/* As pages and JSON show it: all bytes that cannot be shown become the same character. */
static void put_shown(struct buf *out, struct str name)
{
	buf_reset(out);
	text_put_plain(out, name);
}

static size_t find_frames(struct function_query *f)
{
	const struct profile *p = f->query->profile;
	const char *text = f->query->view.function;
	_cleanup_(buf_done) struct buf wanted = { 0 }, shown = { 0 };

	buf_init(&wanted);
	buf_init(&shown);
	put_shown(&wanted, profile_visible_name((struct str){ text, strlen(text) }));
	f->of = report_no_frames(p);
	for (uint32_t i = p->frame_count; i-- > 0;) {
		put_shown(&shown, profile_name(p, i));
		if (shown.size != wanted.size || memcmp(shown.data, wanted.data, wanted.size))
			continue;
		f->of[i] = true;
		f->first = i;
		f->places++;
	}
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

int function_query(struct function_query *f, const struct profile_query *a, struct err *err)
{
	*f = (struct function_query){ .query = a };
	if (!a->view.function)
		return err_set(err, -EINVAL, "function= is missing: give the whole name of a function");
	if (!find_frames(f))
		return err_set(err, -ENOENT, "there is no %s '%.200s' in the "
					     "selected profile", report_by_name(a->view.by, false),
			       a->view.function);
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
	report_edges_done(&f->callers);
	report_edges_done(&f->callees);
}

bool function_of_calls(const struct profile_query *a)
{
	return !strcmp(a->columns[a->chosen].name, "calls");
}
