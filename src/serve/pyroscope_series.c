/* pyroscope_series.c: values over time, of all series together or by labels.
 *
 * A point at t is what was measured in (t - step, t]. Buckets of the store straddle these edges: each is spread over
 * the steps that it overlaps, so that sums are preserved and a steady load looks steady at any step. */
#include "pyroscope_calls.h"
#include "pyroscope_exemplars.h"
#include "pyroscope_timeline.h"

#include "clock.h"
#include "mem.h"
#include "messages.h"
#include "protobuf.h"

#include <assert.h>
#include <math.h>
#include <string.h>

#define STEPS_MAX	11000u		/* same limit as Prometheus */
#define STEP_MIN_S	0.001
#define STEP_MAX_S	(366.0 * 86400)
#define EXEMPLARS_MAX	100u

void pyroscope_timeline_done(struct pyroscope_timeline *t)
{
	for (size_t i = 0; i < t->count; i++) {
		labels_done(&t->groups[i].labels);
		free(t->groups[i].values);
		for (size_t k = 0; t->groups[i].exemplars && k < t->steps; k++)
			buf_done(&t->groups[i].exemplars[k]);
		free(t->groups[i].exemplars);
	}
	free(t->groups);
	intern_done(&t->keys);
	pyroscope_selection_done(&t->selection);
}

static int set_steps(struct pyroscope_timeline *t, double step_s, struct err *err)
{
	int64_t length = t->selection.to_ns - t->selection.from_ns;

	if (!(step_s >= STEP_MIN_S && step_s <= STEP_MAX_S))
		return err_set(err, -EINVAL, "the step is %g seconds; give 0.001 to %.0f", step_s, STEP_MAX_S);
	t->start_ns = t->selection.from_ns;
	t->step_ns = (int64_t)(step_s * 1e9);
	if (length / t->step_ns >= STEPS_MAX)
		return err_set(err, -EINVAL, "the range has more than %u steps of %g seconds; make the steps longer", STEPS_MAX, step_s);
	t->steps = (size_t)(length / t->step_ns) + 1;
	t->selection.from_ns -= t->step_ns;
	t->selection.to_ns = t->start_ns + (int64_t)(t->steps - 1) * t->step_ns;
	return 0;
}

/* --- Groups --- */

static uint32_t group_index(struct pyroscope_timeline *t, const struct labels *labels)
{
	const struct pyroscope_texts *by = &t->selection.query->group_by;
	_cleanup_(labels_done) struct labels kept = { 0 };
	_cleanup_(buf_done) struct buf key = { 0 };
	char id[PROFILE_TYPE_ID];
	uint32_t i;

	labels_init(&kept);
	for (size_t k = 0; k < by->count; k++) {
		const char *value = pyroscope_label(t->selection.context, labels, &t->selection.type, by->items[k], id);

		if (*value)
			labels_set(&kept, by->items[k], strlen(by->items[k]), value, strlen(value));
	}
	buf_init(&key);
	labels_put(&kept, &key);
	i = intern_add(&t->keys, key.data, key.size);
	if (i < t->count)
		return i;
	GROW(&t->groups, &t->capacity, t->count + 1);
	t->groups[t->count++] = (struct pyroscope_group){ .values = xcalloc(t->steps, sizeof(double)) };
	labels_init(&t->groups[i].labels);
	labels_copy(&t->groups[i].labels, &kept);
	return i;
}

static struct pyroscope_group *group_of(struct pyroscope_timeline *t, const struct labels *labels)
{
	uint32_t i = group_index(t, labels);

	return &t->groups[i];
}

/* Returns the step whose edge is the first at or after this time. */
static size_t step_of(const struct pyroscope_timeline *t, int64_t ns)
{
	int64_t step = (ns - t->selection.from_ns) / t->step_ns;

	return step < 0 ? 0 : (size_t)step >= t->steps ? t->steps - 1 : (size_t)step;
}

/* Spreads what was measured in [from, to) over steps; time outside the range is ignored. */
static void add_spread(struct pyroscope_timeline *t, struct pyroscope_group *g, int64_t from, int64_t to, double value)
{
	size_t first, last;

	from = from < t->selection.from_ns ? t->selection.from_ns : from;
	to = to > t->selection.to_ns ? t->selection.to_ns : to;
	first = step_of(t, from);
	last = to > from ? step_of(t, to - 1) : first;
	g->sum += value;
	if (first == last) {
		g->values[first] += value;
		return;
	}
	for (size_t i = first; i <= last; i++) {
		int64_t begin = t->selection.from_ns + (int64_t)i * t->step_ns, end = begin + t->step_ns;
		int64_t part = (end < to ? end : to) - (begin > from ? begin : from);

		g->values[i] += value * (double)part / (double)(to - from);
	}
}

/* --- Series --- */

#define NO_GROUP	UINT32_MAX
#define CELL(s)		((s) * NS_PER_SECOND)

/* Longer steps of the store mean less work, but they must be short compared to ours. */
static int64_t cell_of(int64_t step_ns)
{
	static const int64_t cells[] = { CELL(3600), CELL(600), CELL(60) };

	for (size_t i = 0; i < ARRAY_SIZE(cells); i++)
		if (step_ns >= 10 * cells[i])
			return cells[i];
	return BATCH_BUCKET_NS;
}

static uint32_t column_of(const struct pyroscope_timeline *t, const struct store_series *s)
{
	struct profile_type type;

	for (uint32_t i = 0; i < s->column_count; i++) {
		profile_type_of(s->columns[i].name, s->columns[i].unit, labels_get(&s->labels, "clock"), &type);
		if (profile_type_is(&type, &t->selection.type))
			return i;
	}
	return UINT32_MAX;
}

static void take_sums(void *data, struct store_series *s, int64_t from_ns, const int64_t *values, size_t count)
{
	struct pyroscope_timeline *t = data;
	int64_t cell = cell_of(t->step_ns);
	uint32_t column = column_of(t, s);

	/* Tags number groups from 1; 0 is a series not seen before. */
	if (!s->tag)
		s->tag = column != UINT32_MAX && pyroscope_matches(&t->selection, &s->labels, &t->selection.type) ? group_index(t, &s->labels) + 1 :
														    NO_GROUP;
	for (size_t i = 0; s->tag != NO_GROUP && i < count; i++) {
		int64_t value = values[i * s->column_count + column];

		if (value > 0)
			add_spread(t, &t->groups[s->tag - 1], from_ns + (int64_t)i * cell, from_ns + (int64_t)(i + 1) * cell,
				   (double)value);
	}
}

static int add_series(struct pyroscope_timeline *t, struct err *err)
{
	struct store_query q = { .from_ns = t->selection.from_ns, .to_ns = t->selection.to_ns };

	return store_sums(t->selection.context->options.store, &q, cell_of(t->step_ns), take_sums, t, err);
}

/* --- Runs --- */

static int add_runs(struct pyroscope_timeline *t, struct err *err)
{
	_cleanup_(store_runs_done) struct store_runs runs = { 0 };
	int r = pyroscope_runs_list(&t->selection, PYROSCOPE_RUNS_SUMMED, &runs, err);

	if (*runs.next)
		t->selection.left_out->runs = PYROSCOPE_RUNS_SUMMED;
	for (size_t i = 0; r >= 0 && i < runs.count; i++) {
		_cleanup_(labels_done) struct labels labels = { 0 };
		int64_t value, at = runs.items[i].start_ns;
		struct pyroscope_group *g;

		if (!pyroscope_run_value(&t->selection, &runs.items[i], &value) || value <= 0)
			continue;
		pyroscope_run_labels(&runs.items[i], &labels);
		g = group_of(t, &labels);
		add_spread(t, g, at, at + 1, (double)value);
	}
	return r;
}

/* Adds runs as exemplars of points. */
static int add_exemplars(struct pyroscope_timeline *t, struct err *err)
{
	_cleanup_(store_runs_done) struct store_runs runs = { 0 };
	bool spans = t->selection.query->exemplars == EXEMPLARS_SPAN;
	int r = pyroscope_runs_list(&t->selection, EXEMPLARS_MAX, &runs, err);

	for (size_t i = 0; r >= 0 && i < runs.count; i++) {
		_cleanup_(labels_done) struct labels labels = { 0 };
		struct pyroscope_group *g;
		size_t step;

		if (spans && !pyroscope_span_of(&runs.items[i]))
			continue;
		pyroscope_run_labels(&runs.items[i], &labels);
		g = group_of(t, &labels);
		if (!g->exemplars)
			g->exemplars = xcalloc(t->steps, sizeof(*g->exemplars));
		step = step_of(t, runs.items[i].start_ns);
		if (!g->exemplars[step].data)
			buf_init(&g->exemplars[step]);
		pyroscope_put_exemplar(&t->selection, &runs.items[i], POINT_EXEMPLARS, &g->exemplars[step]);
	}
	return r;
}

/* --- The answer --- */

static int compare_groups(const void *a, const void *b, void *data)
{
	const struct pyroscope_timeline *t = data;
	const struct pyroscope_group *x = *(const struct pyroscope_group *const *)a, *y = *(const struct pyroscope_group *const *)b;
	uint32_t i = (uint32_t)(x - t->groups), k = (uint32_t)(y - t->groups);

	return x->sum > y->sum ? -1 : x->sum < y->sum ? 1 : strcmp(intern_get(&t->keys, i).p, intern_get(&t->keys, k).p);
}

static void put_group(const struct pyroscope_timeline *t, const struct pyroscope_group *g, struct buf *out)
{
	_cleanup_(buf_done) struct buf series = { 0 }, point = { 0 };

	buf_init(&series);
	buf_init(&point);
	for (size_t i = 0; i < g->labels.count; i++)
		pyroscope_put_pair(&series, SERIES_OF_LABELS, g->labels.items[i].key, g->labels.items[i].value);
	for (size_t i = 0; i < t->steps; i++) {
		const struct buf *exemplars = g->exemplars && g->exemplars[i].data ? &g->exemplars[i] : NULL;

		if (!(g->values[i] > 0) && !exemplars)
			continue;
		buf_reset(&point);
		protobuf_put_double(&point, POINT_VALUE, g->values[i]);
		protobuf_put_number(&point, POINT_TIMESTAMP, (uint64_t)((t->start_ns + (int64_t)i * t->step_ns) / 1000000));
		if (exemplars)
			buf_put(&point, exemplars->data, exemplars->size);
		protobuf_put_bytes(&series, SERIES_OF_POINTS, point.data, point.size);
	}
	protobuf_put_bytes(out, SELECT_SERIES_SERIES, series.data, series.size);
}

static void put_groups(const struct pyroscope_timeline *t, struct buf *out)
{
	_cleanup_(freep) const struct pyroscope_group **order = xmalloc((t->count + 1) * sizeof(*order));
	int64_t limit = t->selection.query->limit;

	for (size_t i = 0; i < t->count; i++)
		order[i] = &t->groups[i];
	qsort_r(order, t->count, sizeof(*order), compare_groups, (void *)t);
	for (size_t i = 0; i < t->count && (limit <= 0 || (int64_t)i < limit); i++)
		if (order[i]->sum > 0 || order[i]->exemplars)
			put_group(t, order[i], out);
}

int pyroscope_timeline_init(struct pyroscope_timeline *t, struct pyroscope_request *q, struct err *err)
{
	int r = pyroscope_selection_init(&t->selection, q->context, q->query, q->http->now_ns, &q->left_out, err);

	intern_init(&t->keys);
	if (r < 0 || (r = pyroscope_selection_type(&t->selection, err)) < 0 || (r = set_steps(t, q->query->step_s, err)) < 0)
		return r;
	return pyroscope_asks_runs(&t->selection) ? add_runs(t, err) : add_series(t, err);
}

int pyroscope_select_series(struct pyroscope_request *q, struct buf *out, struct err *err)
{
	_cleanup_(pyroscope_timeline_done) struct pyroscope_timeline t = { 0 };
	int r = pyroscope_timeline_init(&t, q, err);

	if (r >= 0 && q->query->exemplars >= EXEMPLARS_INDIVIDUAL)
		r = add_exemplars(&t, err);
	if (r >= 0)
		put_groups(&t, out);
	return r;
}
