/* old_typeahead.c: /typeahead.php: lists names of functions that contain a text, ignoring case, one per line and
 * sorted with an exact match first, like the pages of xhprof and uprofiler. */
#include "old_links.h"

#include "mem.h"
#include "profile_query.h"
#include "runs.h"
#include "text.h"

#include <string.h>

struct names {
	struct str *items;		/* point into `bytes` */
	size_t count, capacity;
	struct arena bytes;
};

static bool has(struct str name, const char *part)
{
	size_t n = strlen(part);

	for (size_t i = 0; i + n <= name.n; i++)
		if (!strncasecmp(name.p + i, part, n))
			return true;
	return false;
}

static int compare(const void *a, const void *b)
{
	return text_compare(*(const struct str *)a, *(const struct str *)b);
}

/* Adds functions with a value, since only those are in xhprof's arrays. */
static int add_run(struct names *names, const struct server_context *s, const struct views_run *run, const char *part, struct err *err)
{
	struct store_profile_limits most = { .nodes = s->max_nodes };
	_cleanup_(profile_freep) struct profile *p = NULL;
	struct store_run about;
	int e = store_get_run(s->options.store, run->source, run->id, &most, &about, &p, err);

	if (e < 0)
		return e;
	store_run_done(&about);
	for (uint32_t f = 0; f < p->frame_count; f++) {
		struct str name = profile_name(p, f);

		if (!name.n || memchr(name.p, '\n', name.n) || !has(name, part))
			continue;
		GROW(&names->items, &names->capacity, names->count + 1);
		names->items[names->count++] = (struct str){ arena_copy(&names->bytes, name.p, name.n), name.n };
	}
	return 0;
}

static void put_names(struct names *names, const char *part, struct buf *out)
{
	struct str exact = { part, strlen(part) };

	qsort(names->items, names->count, sizeof(*names->items), compare);
	for (size_t i = 0; i < names->count; i++)
		if (!compare(&names->items[i], &exact)) {
			buf_printf(out, "%s\n", part);
			break;
		}
	for (size_t i = 0; i < names->count; i++) {
		if ((i && !compare(&names->items[i], &names->items[i - 1])) || !compare(&names->items[i], &exact))
			continue;
		buf_put(out, names->items[i].p, names->items[i].n);
		buf_putc(out, '\n');
	}
}

static int answer(const struct server_context *s, const struct params *p, struct buf *out, struct err *err)
{
	_cleanup_(buf_done) struct buf weights = { 0 };
	const char *part = params_get(p, "q");
	struct names names = { 0 };
	struct views v;
	int e;

	buf_init(&weights);
	arena_init(&names.bytes);
	e = old_runs(s, p, &v, &weights, err);
	if (e >= 0 && !v.run_count)
		e = err_set(err, -EINVAL, "no run is selected; give run=ID, or run1=ID and run2=ID, and source=NAME");
	for (size_t i = 0; e >= 0 && i < v.run_count; i++)
		e = add_run(&names, s, &v.runs[i], part ? part : "", err);
	if (e >= 0 && v.has_base)
		e = add_run(&names, s, &v.base, part ? part : "", err);
	if (e >= 0)
		put_names(&names, part ? part : "", out);
	arena_done(&names.bytes);
	free(names.items);
	return e;
}

void old_typeahead(struct server_context *s, const struct request *q, struct response *r)
{
	struct params params;
	struct err err = { 0 };
	int e = params_parse(&params, q->query, &err);

	if (e >= 0)
		e = answer(s, &params, &r->body, &err);
	if (e < 0)
		response_error(r, q, query_status(e), "%s", err.text);
	r->out_of_memory = e == -ENOMEM;
	params_done(&params);
}
