/* pyroscope_values.c: converts a selector to filters of the store, and these to values by stack.
 *
 * The store can only filter labels by one value or a list of values. So each label of a selector is filtered by those
 * values of existing series that all its matchers accept. The label used as service_name differs between series, so
 * there is one query per such label. */
#include "pyroscope_selection.h"

#include "mem.h"

#include <assert.h>
#include <string.h>

#define FILTERS_MAX	100000u

struct filters {
	struct label_filter *items;
	size_t count, capacity;
	struct intern seen;		/* key, NUL, value */
	struct arena bytes;
};

static void filters_init(struct filters *f)
{
	*f = (struct filters){ 0 };
	intern_init(&f->seen);
	arena_init(&f->bytes);
}

static void filters_done(struct filters *f)
{
	free(f->items);
	intern_done(&f->seen);
	arena_done(&f->bytes);
}

static void add_filter(struct filters *f, const char *key, const char *value)
{
	_cleanup_(buf_done) struct buf text = { 0 };

	buf_init(&text);
	buf_put(&text, key, strlen(key) + 1);
	buf_puts(&text, value);
	if (intern_add(&f->seen, text.data, text.size) < f->count)
		return;
	GROW(&f->items, &f->capacity, f->count + 1);
	f->items[f->count++] = (struct label_filter){ arena_copy(&f->bytes, key, strlen(key)),
						      arena_copy(&f->bytes, value, strlen(value)), LABEL_IS };
}

static const char *value_of(const struct labels *labels, const char *key)
{
	const char *value = labels_get(labels, key);

	return value ? value : "";
}

/* Adds filters for the rows of the type whose service label is `service`: for each label of the selector, the values
 * that match. Each matcher is about one label, so labels can be filtered independently. */
static void add_filters(const struct pyroscope_selection *a, const struct pyroscope_rows *rows, const bool *chosen, bool by_service,
			size_t service, struct filters *f)
{
	for (size_t i = 0; i < rows->count; i++) {
		const struct labels *labels = &rows->items[i].labels;
		const char *label;

		if (!chosen[i] || (by_service && pyroscope_service_of(a->context, labels) != service))
			continue;
		for (size_t k = 0; k < a->selector.count; k++)
			if (pyroscope_label_is_visible(a->selector.items[k].label) && strcmp(a->selector.items[k].label, "service_name"))
				add_filter(f, a->selector.items[k].label, value_of(labels, a->selector.items[k].label));
		for (size_t k = 0; by_service && k <= service && (label = pyroscope_service_label(a->context, k)); k++)
			add_filter(f, label, value_of(labels, label));
		add_filter(f, "clock", value_of(labels, "clock"));	/* samples of another clock have another type */
	}
}

static bool is_by_service(const struct pyroscope_selection *a)
{
	return selector_has(&a->selector, "service_name") || selector_has(&a->selector, "__service_name__");
}

/* Values queried from the store, in one or several parts. */
struct parts {
	const struct pyroscope_selection *selection;
	const struct pyroscope_rows *rows;
	const bool *chosen;		/* by row */
	const char *column;
	bool lines, by_service;
	size_t services;		/* by_service: the last part is for series without a service label */
	struct profile *merged;		/* sum of several profiles */
};

static bool is_of_part(const struct parts *p, size_t row, size_t service)
{
	return p->chosen[row] &&
	       (!p->by_service || pyroscope_service_of(p->selection->context, &p->rows->items[row].labels) == service);
}

static bool has_part(const struct parts *p, size_t service)
{
	for (size_t i = 0; i < p->rows->count; i++)
		if (is_of_part(p, i, service))
			return true;
	return false;
}

static int query_profile(struct parts *p, const struct store_query *q, struct store_query_stats *stats, struct err *err)
{
	struct profile *part;
	int r = store_query(p->selection->context->options.store, q, &part, stats, err);

	if (r < 0)
		return r;
	if (p->merged) {
		profile_merge(p->merged, part);
		profile_free(part);
	} else {
		p->merged = part;
	}
	return 0;
}

/* Queries a part into `ret`, or if that is NULL, merges it. */
static int query_part(struct parts *p, size_t service, struct stack_values *ret, struct err *err)
{
	const struct pyroscope_selection *a = p->selection;
	struct store_query q = { .from_ns = a->from_ns, .to_ns = a->to_ns, .max_nodes = a->context->max_nodes, .refuse_above = a->context->refuse_above, .lines = p->lines };
	struct store_query_stats stats = { 0 };
	struct filters f;
	int r;

	filters_init(&f);
	add_filters(a, p->rows, p->chosen, p->by_service, service, &f);
	q.filters = f.items;
	q.filter_count = f.count;
	if (f.count > FILTERS_MAX)
		r = err_set(err, -EINVAL, "the selector matches too many label values; narrow it");
	else if (ret)
		r = store_values(a->context->options.store, &q, p->column, ret, &stats, err);
	else
		r = query_profile(p, &q, &stats, err);
	filters_done(&f);
	a->left_out->pruned |= r >= 0 && stats.pruned;
	return r;
}

/* Queries once per label used as service_name, or only once. */
static int query_parts(struct parts *p, struct stack_values *ret, struct err *err)
{
	size_t count = 0;
	int r = 0;

	while (p->by_service && pyroscope_service_label(p->selection->context, p->services))
		p->services++;
	for (size_t s = 0; s <= p->services; s++)
		count += has_part(p, s);
	for (size_t s = 0; r >= 0 && s <= p->services; s++)
		if (has_part(p, s))
			r = query_part(p, s, count == 1 ? ret : NULL, err);
	if (r >= 0 && count > 1) {
		uint32_t column = profile_find_column(p->merged, p->column);

		*ret = stack_values_take(TAKE_PTR(p->merged), column);
	}
	profile_free(p->merged);
	return r;
}

/* Marks the rows of the type; false if there are none. The caller frees. */
static bool choose_rows(const struct pyroscope_selection *a, const struct pyroscope_rows *rows, bool **ret, const char **ret_column)
{
	*ret = xcalloc(rows->count + 1, sizeof(**ret));
	*ret_column = NULL;
	for (size_t i = 0; i < rows->count; i++) {
		(*ret)[i] = profile_type_is(&rows->items[i].type, &a->type);
		if ((*ret)[i])
			*ret_column = rows->items[i].column;
	}
	return *ret_column;
}

int pyroscope_values(const struct pyroscope_selection *a, bool lines, struct stack_values *ret, struct err *err)
{
	_cleanup_(pyroscope_rows_done) struct pyroscope_rows rows = { 0 };
	_cleanup_(freep) bool *chosen = NULL;
	const char *column;
	int r;

	if (pyroscope_asks_runs(a))
		return pyroscope_runs_values(a, lines, ret, err);
	r = pyroscope_rows_load(a, false, &rows, err);
	if (r < 0)
		return r;
	if (choose_rows(a, &rows, &chosen, &column))
		return query_parts(&(struct parts){ a, &rows, chosen, column, lines, is_by_service(a) }, ret, err);
	*ret = stack_values_take(profile_new(), UINT32_MAX);
	return 0;
}
