/* old_links.c: translates parameters of xhprof and uprofiler to our URLs. Names are checked like run keys, and all
 * other texts are percent-encoded. */
#include "old_links.h"

#include "page.h"
#include "profile_query.h"
#include "runs.h"

#include <math.h>
#include <string.h>

/* --- Runs --- */

/* Finds the source of a run given without one: xhprof's default, else the source that has the run. */
static int find_source(const struct server_context *s, struct views_run *run, struct err *err)
{
	static const char *const defaults[] = { "uprofiler", "xhprof" };
	struct store_run_query q = { .id = run->id, .limit = 20 };
	struct store_runs found;
	size_t best = 0;
	int e = store_list_runs(s->options.store, &q, &found, err);

	if (e < 0)
		return e;
	for (size_t d = ARRAY_SIZE(defaults); d-- > 0;)
		for (size_t i = 0; i < found.count; i++)
			if (!strcmp(found.items[i].source, defaults[d]))
				best = i;
	if (found.count)
		strcpy(run->source, found.items[best].source);
	else
		e = err_set(err, -ENOENT, "there is no run '%.64s' of any source", run->id);
	store_runs_done(&found);
	return e;
}

/* `source` may be NULL. */
static int check_source(const char *source, struct err *err)
{
	if (source && !strobe_wire_is_run_key(source, strlen(source)))
		return err_set(err, -EINVAL, "source=%.80s is not a valid source: 1 to %u letters, digits, '.', "
					     "'_' or '-'",
			       source, STROBE_WIRE_RUN_KEY);
	return 0;
}

/* `id` has `n` bytes; `source` may be NULL. */
static int take_run(const struct server_context *s, const char *source, const char *id, size_t n, struct views_run *ret,
		    struct err *err)
{
	int e;

	if (!strobe_wire_is_run_key(id, n))
		return err_set(err, -EINVAL, "'%.*s' is not a valid run ID: 1 to %u letters, digits, '.', '_' or '-'",
			       (int)(n < 80 ? n : 80), id, STROBE_WIRE_RUN_KEY);
	e = check_source(source, err);
	if (e < 0)
		return e;
	memcpy(ret->id, id, n);
	ret->id[n] = 0;
	if (!source)
		return find_source(s, ret, err);
	strcpy(ret->source, source);
	return 0;
}

/* "1,2,3" */
static int take_list(const struct server_context *s, const char *source, const char *text, struct views *ret, struct err *err)
{
	for (;;) {
		size_t n = strcspn(text, ",");
		int e;

		if (ret->run_count == VIEWS_RUNS)
			return err_set(err, -EINVAL, "run: at most %u runs can be aggregated", VIEWS_RUNS);
		e = take_run(s, source, text, n, &ret->runs[ret->run_count++], err);
		if (e < 0 || !text[n])
			return e;
		text += n + 1;
	}
}

static const char *get(const struct params *p, const char *key)
{
	const char *value = params_get(p, key);

	return value && *value ? value : NULL;
}

int old_runs(const struct server_context *s, const struct params *p, struct views *ret, struct buf *weights, struct err *err)
{
	const char *run = get(p, "run"), *run1 = get(p, "run1"), *run2 = get(p, "run2"), *wts = get(p, "wts");
	const char *source = get(p, "source");
	int e;

	memset(ret, 0, sizeof(*ret));
	if (!run && !run1 && !run2)
		return 0;
	if (run) {
		e = take_list(s, source, run, ret, err);
		if (e < 0 || ret->run_count == 1 || !wts)
			return e;
		e = views_weights(wts, ret->run_count, weights, err);
		ret->weights = weights->data;
		return e;
	}
	if (!run1 || !run2)
		return err_set(err, -EINVAL, "a comparison needs both run1 and run2");
	ret->has_base = true;
	ret->run_count = 1;
	e = take_run(s, source, run1, strlen(run1), &ret->base, err);
	return e < 0 ? e : take_run(s, source, run2, strlen(run2), &ret->runs[0], err);
}

/* --- Pages --- */

/* Translates the table's sort key: inclusive values, exclusive ones with the prefix excl_, or names. Calls have no
 * inclusive values. */
static void take_sort(const char *sort, struct views *v)
{
	static const struct { const char *sort, *column; } columns[] = {
		{ "ct", "calls" }, { "wt", "wall_ns" }, { "cpu", "cpu_ns" }, { "mu", "memory_bytes" },
		{ "pmu", "peak_memory_bytes" }, { "samples", "samples" },
	};
	bool itself = sort && !strncmp(sort, "excl_", 5);

	if (sort && !strcmp(sort, "fn"))
		v->sort = "name";
	for (size_t i = 0; sort && i < ARRAY_SIZE(columns); i++)
		if (!strcmp(sort + (itself ? 5 : 0), columns[i].sort)) {
			v->column = columns[i].column;
			v->sort = itself || !i ? NULL : "total";
		}
}

/* Whether a run has the column, or samples from which time is derived. */
static int has_column(const struct server_context *s, const struct views_run *run, const char *column, bool *ret, struct err *err)
{
	struct store_profile_limits most = { .nodes = s->max_nodes, .column = column };
	_cleanup_(profile_freep) struct profile *p = NULL;
	struct store_run about;
	int e = store_get_run(s->options.store, run->source, run->id, &most, &about, &p, err);

	if (e < 0)
		return e;
	run_add_columns(p);
	*ret = profile_find_column(p, column) != UINT32_MAX;
	store_run_done(&about);
	return 0;
}

/* Both programs fall back to another order if a run lacks a metric; our page would return an error. */
static int drop_missing_column(const struct server_context *s, struct views *v, struct err *err)
{
	bool has = true;
	int e = 0;

	for (size_t i = 0; e >= 0 && has && v->column && i < v->run_count + v->has_base; i++)
		e = has_column(s, i < v->run_count ? &v->runs[i] : &v->base, v->column, &has, err);
	if (e == -ENOENT)	/* the page then says which run is missing */
		return 0;
	if (!has)
		v->column = NULL;
	return e;
}

/* A fraction becomes a percentage; invalid values become xhprof's default. */
static void put_threshold(const char *text, struct buf *out)
{
	char *end;
	double share = text ? strtod(text, &end) : 0.01;

	if (text && (*end || !isfinite(share) || share < 0 || share > 1))
		share = 0.01;
	buf_printf(out, "%.6g", share * 100);
}

static int put_list(const char *source, struct buf *out, struct err *err)
{
	int e = check_source(source, err);

	if (e < 0)
		return e;
	buf_puts(out, "/runs");
	if (source)
		buf_printf(out, "?source=%s", source);
	return 0;
}

/* foo@1 is a recursive call of foo, which is the same function here. */
static void put_function(const char *symbol, struct buf *out)
{
	const char *at = symbol ? strrchr(symbol, '@') : NULL;
	bool is_level = at && at > symbol && at[1] && !at[1 + strspn(at + 1, "0123456789")];

	buf_put(out, symbol ? symbol : "", is_level ? (size_t)(at - symbol) : symbol ? strlen(symbol) : 0);
}

static int put_address(const struct server_context *s, const struct params *p, bool callgraph, struct buf *out, struct err *err)
{
	_cleanup_(buf_done) struct buf weights = { 0 }, threshold = { 0 }, function = { 0 };
	struct views v;
	int e;

	buf_init(&weights);
	buf_init(&threshold);
	buf_init(&function);
	e = old_runs(s, p, &v, &weights, err);
	if (e < 0)
		return e;
	put_function(get(p, callgraph ? "func" : "symbol"), &function);
	v.function = function.data;
	take_sort(get(p, "sort"), &v);
	put_threshold(get(p, "threshold"), &threshold);
	if (!v.run_count)
		return put_list(get(p, "source"), out, err);
	e = drop_missing_column(s, &v, err);
	if (e < 0)
		return e;
	if (callgraph)
		views_put_callgraph(&v, threshold.data, out);
	else
		views_put(&v, out);
	return 0;
}

static void lead(struct server_context *s, const struct request *q, struct response *r, bool callgraph)
{
	_cleanup_(buf_done) struct buf address = { 0 };
	struct params params;
	struct err err = { 0 };
	int e = params_parse(&params, q->query, &err);

	buf_init(&address);
	if (e >= 0)
		e = put_address(s, &params, callgraph, &address, &err);
	if (e < 0)
		runs_page_error(q, r, query_status(e), err.text);
	else
		runs_lead_to(r, 302, &address);
	r->out_of_memory = e == -ENOMEM;
	params_done(&params);
}

void old_index(struct server_context *s, const struct request *q, struct response *r)
{
	lead(s, q, r, false);
}

void old_callgraph(struct server_context *s, const struct request *q, struct response *r)
{
	lead(s, q, r, true);
}

void old_links_folder(struct server_context *s, const struct request *q, struct response *r)
{
	const char *file = strrchr(q->path, '/') + 1;

	if (!strcmp(file, "callgraph.php"))
		old_callgraph(s, q, r);
	else if (!strcmp(file, "typeahead.php"))
		old_typeahead(s, q, r);
	else if (!*file || !strcmp(file, "index.php"))
		old_index(s, q, r);
	else
		runs_page_error(q, r, 404, "of the pages of xhprof and uprofiler index.php, callgraph.php and typeahead.php "
				"lead to Strobe's");
}

static bool is_link(const struct request *q)
{
	struct params params;
	bool is_old = false;

	/* Also accepts our own runs, SOURCE/ID. */
	if (params_parse(&params, q->query, NULL) >= 0)
		is_old = get(&params, "run1") || get(&params, "run2") ||
			 (get(&params, "run") && !strchr(get(&params, "run"), '/'));
	params_done(&params);
	return is_old;
}

void old_links_root(struct server_context *s, const struct request *q, struct response *r)
{
	if (is_link(q))
		old_index(s, q, r);
	else
		page_answer(s, q, r);
}
