/* pyroscope_exemplars.c: lists single runs, and counts them by time and value. */
#include "pyroscope_exemplars.h"

#include "clock.h"
#include "mem.h"
#include "messages.h"
#include "protobuf.h"
#include "pyroscope_calls.h"

#include <math.h>
#include <string.h>

#define ROWS_OF_HEATMAP	20u
#define SLOTS_MAX	11000u
#define EXEMPLARS_SHOWN	100u

const char *pyroscope_span_of(const struct store_run *run)
{
	const char *span = labels_get(&run->labels, "span_id");

	return span ? span : labels_get(&run->labels, "profile_id");
}

void pyroscope_put_exemplar(const struct pyroscope_selection *a, const struct store_run *run, uint32_t number, struct buf *out)
{
	_cleanup_(freep) char *name = xasprintf("%s/%s", run->source, run->id);
	const char *span = pyroscope_span_of(run), *trace = labels_get(&run->labels, "trace_id");
	_cleanup_(buf_done) struct buf exemplar = { 0 };
	int64_t value = 0;

	buf_init(&exemplar);
	pyroscope_run_value(a, run, &value);
	protobuf_put_number(&exemplar, EXEMPLAR_TIMESTAMP, (uint64_t)run->start_ns / 1000000);
	pyroscope_put_text(&exemplar, EXEMPLAR_PROFILE_ID, name);
	pyroscope_put_text(&exemplar, EXEMPLAR_SPAN_ID, span ? span : "");
	protobuf_put_number(&exemplar, EXEMPLAR_VALUE, (uint64_t)value);
	for (size_t i = 0; i < run->labels.count; i++)
		if (pyroscope_label_is_visible(run->labels.items[i].key))
			pyroscope_put_pair(&exemplar, EXEMPLAR_LABELS, run->labels.items[i].key, run->labels.items[i].value);
	pyroscope_put_text(&exemplar, EXEMPLAR_TRACE_ID, trace ? trace : "");
	protobuf_put_bytes(out, number, exemplar.data, exemplar.size);
}

/* --- Heatmaps --- */

struct heatmap {
	struct pyroscope_selection selection;
	struct store_runs runs;
	int64_t *values;		/* by run; -1: none, or the run belongs to no span */
	int64_t least, most;
	int64_t step_ns;
	size_t slots;
	struct intern groups;		/* their labels, as messages */
	uint32_t *group;		/* by run */
};

static void heatmap_done(struct heatmap *h)
{
	store_runs_done(&h->runs);
	free(h->values);
	free(h->group);
	intern_done(&h->groups);
	pyroscope_selection_done(&h->selection);
}

static int begin(struct heatmap *h, struct pyroscope_request *q, struct err *err)
{
	double step_s = q->query->step_s;
	int r = pyroscope_selection_init(&h->selection, q->context, q->query, q->http->now_ns, &q->left_out, err);

	if (r < 0 || (r = pyroscope_selection_type(&h->selection, err)) < 0)
		return r;
	if (!(step_s >= 0.001 && step_s < 1e9) || (double)(h->selection.to_ns - h->selection.from_ns) / (step_s * 1e9) > SLOTS_MAX)
		return err_set(err, -EINVAL, "the step is %g seconds; give at least 0.001, and at most %u steps", step_s, SLOTS_MAX);
	h->step_ns = (int64_t)(step_s * 1e9);
	h->slots = (size_t)((h->selection.to_ns - h->selection.from_ns) / h->step_ns) + 1;
	r = pyroscope_runs_list(&h->selection, PYROSCOPE_RUNS_SUMMED, &h->runs, err);
	if (*h->runs.next)
		q->left_out.runs = PYROSCOPE_RUNS_SUMMED;
	return r;
}

/* Appends the labels to group by, if the run has them, as fields of its series. */
static void put_labels(const struct heatmap *h, const struct store_run *run, struct buf *out)
{
	const struct pyroscope_texts *by = &h->selection.query->group_by;
	_cleanup_(labels_done) struct labels labels = { 0 };
	char id[PROFILE_TYPE_ID];

	pyroscope_run_labels(run, &labels);
	for (size_t i = 0; i < by->count; i++) {
		const char *value = pyroscope_label(h->selection.context, &labels, &h->selection.type, by->items[i], id);

		if (*value)
			pyroscope_put_pair(out, HEATMAP_LABELS, by->items[i], value);
	}
}

static void find_groups(struct heatmap *h)
{
	_cleanup_(buf_done) struct buf labels = { 0 };

	buf_init(&labels);
	intern_init(&h->groups);
	h->group = xcalloc(h->runs.count + 1, sizeof(*h->group));
	for (size_t i = 0; i < h->runs.count; i++) {
		buf_reset(&labels);
		put_labels(h, &h->runs.items[i], &labels);
		h->group[i] = intern_add(&h->groups, labels.data, labels.size);
	}
}

static void find_values(struct heatmap *h)
{
	bool spans = h->selection.query->heatmap == HEATMAP_OF_SPANS;

	h->values = xcalloc(h->runs.count + 1, sizeof(*h->values));
	h->least = INT64_MAX;
	for (size_t i = 0; i < h->runs.count; i++) {
		int64_t *v = &h->values[i];

		if (!pyroscope_run_value(&h->selection, &h->runs.items[i], v) || *v < 0 || (spans && !pyroscope_span_of(&h->runs.items[i])))
			*v = -1;
		if (*v >= 0 && *v < h->least)
			h->least = *v;
		if (*v > h->most)
			h->most = *v;
	}
}

static double height(const struct heatmap *h)
{
	double height = (double)(h->most - h->least) / ROWS_OF_HEATMAP;

	return height > 0 ? height : 1;
}

static void put_slot(const struct heatmap *h, size_t slot, const uint32_t *counts, const struct buf *exemplars, struct buf *out)
{
	_cleanup_(buf_done) struct buf message = { 0 }, numbers = { 0 };
	double y_min[ROWS_OF_HEATMAP];

	buf_init(&message);
	buf_init(&numbers);
	protobuf_put_number(&message, SLOT_TIMESTAMP, (uint64_t)(h->selection.from_ns + (int64_t)slot * h->step_ns) / 1000000);
	for (uint32_t i = 0; i < ROWS_OF_HEATMAP; i++)
		y_min[i] = (double)h->least + i * height(h);
	protobuf_put_doubles(&message, SLOT_Y_MIN, y_min, ROWS_OF_HEATMAP);
	for (uint32_t i = 0; i < ROWS_OF_HEATMAP; i++)
		buf_put_varint(&numbers, counts[i]);
	protobuf_put_bytes(&message, SLOT_COUNTS, numbers.data, numbers.size);
	buf_put(&message, exemplars->data, exemplars->size);
	protobuf_put_bytes(out, HEATMAP_SLOTS, message.data, message.size);
}

/* Returns the slot of a run: (t - step, t], like points of series. */
static size_t slot_of(const struct heatmap *h, size_t run)
{
	int64_t since = h->runs.items[run].start_ns - h->selection.from_ns;
	size_t slot = (size_t)((since + h->step_ns - 1) / h->step_ns);

	return slot < h->slots ? slot : h->slots - 1;
}

static void put_slots(const struct heatmap *h, uint32_t group, struct buf *out)
{
	uint32_t (*counts)[ROWS_OF_HEATMAP] = xcalloc(h->slots, sizeof(*counts));
	bool *used = xcalloc(h->slots, sizeof(*used));
	_cleanup_(buf_done) struct buf exemplars = { 0 };

	for (size_t i = 0; i < h->runs.count; i++) {
		uint32_t row;

		if (h->values[i] < 0 || h->group[i] != group)
			continue;
		row = (uint32_t)((double)(h->values[i] - h->least) / height(h));
		counts[slot_of(h, i)][row < ROWS_OF_HEATMAP ? row : ROWS_OF_HEATMAP - 1]++;
		used[slot_of(h, i)] = true;
	}
	buf_init(&exemplars);
	for (size_t slot = 0; slot < h->slots; slot++) {
		if (!used[slot])
			continue;
		buf_reset(&exemplars);
		for (size_t i = 0; i < h->runs.count && i < EXEMPLARS_SHOWN && h->selection.query->exemplars >= EXEMPLARS_INDIVIDUAL; i++)
			if (h->values[i] >= 0 && h->group[i] == group && slot_of(h, i) == slot)
				pyroscope_put_exemplar(&h->selection, &h->runs.items[i], SLOT_EXEMPLARS, &exemplars);
		put_slot(h, slot, counts[slot], &exemplars, out);
	}
	free(counts);
	free(used);
}

int pyroscope_select_heatmap(struct pyroscope_request *q, struct buf *out, struct err *err)
{
	_cleanup_(heatmap_done) struct heatmap h = { 0 };
	_cleanup_(buf_done) struct buf series = { 0 };
	int64_t limit = q->query->limit;
	int r = begin(&h, q, err);

	if (r < 0)
		return r;
	buf_init(&series);
	find_values(&h);
	find_groups(&h);
	for (uint32_t i = 0; i < h.groups.count && (limit <= 0 || i < limit); i++) {
		size_t labels = intern_get(&h.groups, i).n;

		buf_reset(&series);
		buf_put(&series, intern_get(&h.groups, i).p, labels);
		put_slots(&h, i, &series);
		if (series.size > labels)
			protobuf_put_bytes(out, HEATMAP_SERIES, series.data, series.size);
	}
	return 0;
}
