/* sqlite_counts.c: how many samples there are, over time and per label; no stack is looked at. */
#include "mem.h"
#include "saturate.h"
#include "sqlite_scan.h"
#include <assert.h>
#include <string.h>

/* --- Over time --- */

struct timeline {
	int64_t from_ns, step_ns;
	uint64_t *samples;
	size_t n;
};

static int add_to_timeline(void *data, struct day *d, const struct scan_chunk *c, struct err *err)
{
	struct timeline *t = data;
	int64_t row[PROFILE_COLUMNS];
	uint32_t stack;
	unsigned bucket;
	int rc;

	if (c->series->samples == UINT32_MAX)
		return 0;
	while ((rc = scan_next(c, &stack, &bucket, row)) > 0) {
		int64_t ns = (c->hour_bucket + bucket) * BATCH_BUCKET_NS;
		uint64_t step = ns > t->from_ns ? ((uint64_t)ns - (uint64_t)t->from_ns) / (uint64_t)t->step_ns : 0;

		if (step < t->n && row[c->series->samples] > 0)
			saturating_count(&t->samples[step], (uint64_t)row[c->series->samples]);
	}
	return rc;
}

int sqlite_timeline(struct store *store, const struct store_query *q, int64_t step_ns, uint64_t *samples, size_t n,
		    struct err *err)
{
	struct timeline t = { q->from_ns, step_ns, samples, n };
	const struct scan_visitor v = { .chunk = add_to_timeline, .data = &t };

	assert(step_ns > 0 && step_ns % BATCH_BUCKET_NS == 0);
	return sqlite_scan((struct sqlite_store *)store, q, &v, NULL, err);
}

/* --- Per label --- */

struct counts {
	uint64_t *of_series;		/* samples of the day, by id - 1, and one more if it had any row */
	size_t capacity;
	struct store_labels *labels;
	size_t label_capacity;
	struct intern texts;		/* key=value */
	struct { uint32_t label, value; } *values;	/* by number of the text: where it stands in `labels` */
	size_t value_capacity;
};

static int count_series(void *data, struct day *d, const struct scan_chunk *c, struct err *err)
{
	struct counts *n = data;
	size_t had = n->capacity;
	int64_t row[PROFILE_COLUMNS];
	uint64_t samples = 0;
	uint32_t stack, column = c->series->samples;
	unsigned bucket;
	bool any = false;
	int rc = 0;

	assert(c->id > 0);
	GROW(&n->of_series, &n->capacity, c->id);
	memset(n->of_series + had, 0, (n->capacity - had) * sizeof(*n->of_series));
	if (column == 0 && scan_is_whole(c) && c->reader->total >= 0) {
		samples = (uint64_t)c->reader->total;
		any = true;
	} else {
		while ((rc = scan_next(c, &stack, &bucket, row)) > 0) {
			any = true;
			if (column != UINT32_MAX && row[column] > 0)
				saturating_count(&samples, (uint64_t)row[column]);
		}
	}
	if (any && !n->of_series[c->id - 1])
		n->of_series[c->id - 1] = 1;
	saturating_count(&n->of_series[c->id - 1], samples);
	return rc;
}

static struct store_label *find_label(struct counts *n, const char *key, uint32_t *ret_index)
{
	struct store_labels *l = n->labels;

	for (size_t i = 0; i < l->count; i++) {
		if (!strcmp(l->items[i].key, key)) {
			*ret_index = (uint32_t)i;
			return &l->items[i];
		}
	}
	GROW(&l->items, &n->label_capacity, l->count + 1);
	l->items[l->count] = (struct store_label){ .key = xstrdup(key) };
	*ret_index = (uint32_t)l->count;
	return &l->items[l->count++];
}

static void count_label(struct counts *n, const struct label *label, uint64_t samples)
{
	_cleanup_(freep) char *text = xasprintf("%s=%s", label->key, label->value);
	uint32_t known = (uint32_t)n->texts.count, number = intern_add(&n->texts, text, strlen(text)), at;
	struct store_label *l;

	assert(number <= known);
	if (number == known) {
		l = find_label(n, label->key, &at);
		/* Doubled when the count is a power of two; there is no place for a capacity in the answer. */
		if ((l->value_count & (l->value_count - 1)) == 0)
			l->values = xrealloc(l->values, (l->value_count ? 2 * l->value_count : 1) * sizeof(*l->values));
		l->values[l->value_count].value = xstrdup(label->value);
		l->values[l->value_count].samples = 0;
		GROW(&n->values, &n->value_capacity, number + 1);
		n->values[number].label = at;
		n->values[number].value = (uint32_t)l->value_count++;
	}
	assert(n->values[number].label < n->labels->count &&
	       n->values[number].value < n->labels->items[n->values[number].label].value_count);
	saturating_count(&n->labels->items[n->values[number].label].values[n->values[number].value].samples, samples);
}

static void count_day(void *data, const struct series *series, size_t count)
{
	struct counts *n = data;

	for (size_t i = 0; i < count && i < n->capacity; i++) {
		_cleanup_(labels_done) struct labels labels = { 0 };

		if (!n->of_series[i])
			continue;
		series_labels(&series[i], &labels);
		for (size_t k = 0; k < labels.count; k++)
			count_label(n, &labels.items[k], n->of_series[i] - 1);
	}
	if (n->capacity)
		memset(n->of_series, 0, n->capacity * sizeof(*n->of_series));
}

static int compare_labels(const void *a, const void *b)
{
	return strcmp(((const struct store_label *)a)->key, ((const struct store_label *)b)->key);
}

static int compare_values(const void *a, const void *b)
{
	const struct store_label_value *x = a, *y = b;

	if (x->samples != y->samples)
		return x->samples > y->samples ? -1 : 1;
	return strcmp(x->value, y->value);
}

int sqlite_labels(struct store *store, const struct store_query *q, struct store_labels *ret, struct err *err)
{
	struct counts n = { .labels = ret };
	const struct scan_visitor v = { .chunk = count_series, .day_end = count_day, .data = &n };
	int rc;

	intern_init(&n.texts);
	rc = sqlite_scan((struct sqlite_store *)store, q, &v, NULL, err);
	intern_done(&n.texts);
	free(n.of_series);
	free(n.values);
	if (rc < 0) {
		store_labels_done(ret);
		return rc;
	}
	for (size_t i = 0; i < ret->count; i++)
		qsort(ret->items[i].values, ret->items[i].value_count, sizeof(*ret->items[i].values), compare_values);
	if (ret->count)
		qsort(ret->items, ret->count, sizeof(*ret->items), compare_labels);
	return 0;
}
