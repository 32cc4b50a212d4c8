/* pyroscope_selection.c: ranges, labels of rows, and the rows themselves. */
#include "pyroscope_selection.h"

#include "clock.h"
#include "mem.h"

#include <assert.h>
#include <string.h>

#define HOUR_NS		(3600 * NS_PER_SECOND)
#define MS_MAX		(INT64_MAX / 1000000 / 2)

/* --- The range --- */

static int set_range(struct pyroscope_selection *a, struct err *err)
{
	int64_t start = a->query->start_ms, end = a->query->end_ms;

	if (!start && !end) {
		a->to_ns = a->now_ns;
		a->from_ns = a->now_ns - HOUR_NS;
		return 0;
	}
	if (start <= 0 || end <= 0 || start > MS_MAX || end > MS_MAX)
		return err_set(err, -EINVAL, "the range needs a start and an end, in milliseconds since 1970");
	if (start > end)
		return err_set(err, -EINVAL, "the range ends before it starts");
	a->from_ns = start * 1000000;
	a->to_ns = end * 1000000;
	return 0;
}

int pyroscope_selection_init(struct pyroscope_selection *a, const struct server_context *s, const struct pyroscope_query *q, int64_t now_ns,
			     struct pyroscope_left_out *left_out, struct err *err)
{
	int r;

	*a = (struct pyroscope_selection){ .context = s, .query = q, .now_ns = now_ns, .left_out = left_out };
	selector_init(&a->selector);
	r = set_range(a, err);
	if (r >= 0)
		r = selector_add(&a->selector, q->selector, err);
	for (size_t i = 0; r >= 0 && i < q->matchers.count; i++)
		r = selector_add(&a->selector, q->matchers.items[i], err);
	return r;
}

void pyroscope_selection_done(struct pyroscope_selection *a)
{
	selector_done(&a->selector);
}

int pyroscope_selection_type(struct pyroscope_selection *a, struct err *err)
{
	return profile_type_parse(a->query->type, &a->type, err);
}

int pyroscope_selection_nodes(const struct pyroscope_selection *a, uint32_t *ret, struct err *err)
{
	int64_t n = a->query->max_nodes;

	if (n < 0 || n > PYROSCOPE_NODES_MAX)
		return err_set(err, -EINVAL, "max_nodes is %lld; give 1 to %u, or 0 for %u", (long long)n, PYROSCOPE_NODES_MAX,
			       PYROSCOPE_NODES);
	*ret = n ? (uint32_t)n : PYROSCOPE_NODES;
	return 0;
}

/* --- Labels --- */

const char *pyroscope_service_label(const struct server_context *s, size_t i)
{
	static const char *const services[] = { PYROSCOPE_SERVICES };
	size_t count = s->options.service_label_count;

	if (count)
		return i < count ? s->options.service_labels[i] : NULL;
	return i < ARRAY_SIZE(services) ? services[i] : NULL;
}

size_t pyroscope_service_of(const struct server_context *s, const struct labels *labels)
{
	const char *label;
	size_t i = 0;

	while ((label = pyroscope_service_label(s, i))) {
		const char *value = labels_get(labels, label);

		if (value && *value)
			break;
		i++;
	}
	return i;
}

static const char *service_of(const struct server_context *s, const struct labels *labels)
{
	const char *label = pyroscope_service_label(s, pyroscope_service_of(s, labels));

	return label ? labels_get(labels, label) : PYROSCOPE_UNKNOWN;
}

bool pyroscope_label_is_visible(const char *label)
{
	return strcmp(label, "span_id") && strcmp(label, "trace_id") && strcmp(label, "profile_id") && strncmp(label, "__", 2);
}

const char *pyroscope_label(const struct server_context *s, const struct labels *labels, const struct profile_type *type,
			    const char *name, char id[PROFILE_TYPE_ID])
{
	const char *value = type ? profile_type_label(type, name, id) : NULL;

	if (value)
		return value;
	if (!strcmp(name, "service_name") || !strcmp(name, "__service_name__"))
		return service_of(s, labels);
	value = pyroscope_label_is_visible(name) ? labels_get(labels, name) : NULL;
	return value ? value : "";
}

bool pyroscope_matches(const struct pyroscope_selection *a, const struct labels *labels, const struct profile_type *type)
{
	char id[PROFILE_TYPE_ID];

	for (size_t i = 0; i < a->selector.count; i++) {
		const struct matcher *m = &a->selector.items[i];

		if (!matcher_holds(m, pyroscope_label(a->context, labels, type, m->label, id)))
			return false;
	}
	return true;
}

/* --- Rows --- */

struct loading {
	const struct pyroscope_selection *selection;
	struct pyroscope_rows *rows;
};

static void add_row(struct loading *l, const struct labels *labels, const struct profile_type *type, const char *column)
{
	_cleanup_(buf_done) struct buf key = { 0 };
	struct pyroscope_rows *rows = l->rows;
	char id[PROFILE_TYPE_ID];
	struct pyroscope_row *row;

	if (!pyroscope_matches(l->selection, labels, type))
		return;
	buf_init(&key);
	profile_type_id(type, id);
	buf_puts(&key, id);
	buf_putc(&key, 0);
	labels_put(labels, &key);
	if (intern_add(&rows->seen, key.data, key.size) < rows->count)
		return;
	GROW(&rows->items, &rows->capacity, rows->count + 1);
	row = &rows->items[rows->count++];
	*row = (struct pyroscope_row){ .type = *type };
	labels_init(&row->labels);
	labels_copy(&row->labels, labels);
	snprintf(row->column, sizeof(row->column), "%s", column);
}

static void take_series(void *data, struct store_series *s, int64_t from_ns, const int64_t *values, size_t count)
{
	struct profile_type type;

	(void)from_ns;
	(void)values;
	(void)count;
	for (uint32_t i = 0; i < s->column_count; i++) {
		profile_type_of(s->columns[i].name, s->columns[i].unit, labels_get(&s->labels, "clock"), &type);
		add_row(data, &s->labels, &type, s->columns[i].name);
	}
}

static void take_run(struct loading *l, const struct store_run *run)
{
	_cleanup_(labels_done) struct labels labels = { 0 };
	struct profile_type type;

	pyroscope_run_labels(run, &labels);
	for (size_t i = 0; i < run->total_count; i++) {
		profile_type_of_run(run->totals[i].name, run->totals[i].unit, &type);
		add_row(l, &labels, &type, run->totals[i].name);
	}
}

/* Fills in the type if the selector requires one, so that its runs can be selected. Returns false if no run can match. */
static bool only_type(const struct pyroscope_selection *a, struct profile_type *ret)
{
	for (size_t i = 0; i < a->selector.count; i++) {
		const struct matcher *m = &a->selector.items[i];

		if (!strcmp(m->label, "__profile_type__") && !m->pattern && !m->negated && profile_type_parse(m->value, ret, NULL) >= 0)
			return profile_type_is_run(ret);
	}
	return true;
}

/* Adds a row for each set of labels of runs. */
static int load_runs(struct loading *l, struct err *err)
{
	const struct pyroscope_selection *a = l->selection;
	struct store_run_query q = { .from_ns = a->from_ns, .to_ns = a->to_ns, .distinct = true, .limit = PYROSCOPE_RUN_ROWS };
	_cleanup_(pyroscope_conditions_done) struct pyroscope_conditions conditions;
	struct profile_type type = { 0 };
	struct store_runs runs = { 0 };
	char part[64];
	int r;

	pyroscope_conditions_init(&conditions, a, false);
	q.conditions = conditions.items;
	q.condition_count = conditions.count;
	if (!only_type(a, &type))
		return 0;
	q.total_part = pyroscope_total_part(&type, part);
	r = store_list_runs(a->context->options.store, &q, &runs, err);
	if (r >= 0 && *runs.next)
		a->left_out->rows = PYROSCOPE_RUN_ROWS;
	for (size_t i = 0; i < runs.count; i++)
		take_run(l, &runs.items[i]);
	store_runs_done(&runs);
	return r;
}

int pyroscope_rows_load(const struct pyroscope_selection *a, bool with_runs, struct pyroscope_rows *ret, struct err *err)
{
	struct store_query q = { .from_ns = a->from_ns, .to_ns = a->to_ns };
	struct loading l = { a, ret };
	int r;

	*ret = (struct pyroscope_rows){ 0 };
	intern_init(&ret->seen);
	r = store_sums(a->context->options.store, &q, 0, take_series, &l, err);
	return r >= 0 && with_runs ? load_runs(&l, err) : r;
}

void pyroscope_rows_done(struct pyroscope_rows *r)
{
	for (size_t i = 0; i < r->count; i++)
		labels_done(&r->items[i].labels);
	free(r->items);
	intern_done(&r->seen);
	*r = (struct pyroscope_rows){ 0 };
}
