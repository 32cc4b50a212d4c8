/* sqlite_counts.c: counts samples over time and per label, without reading stacks. */
#include "label_counts.h"
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
	assert(c->series->samples < c->series->column_count);
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
	uint64_t *of_series;		/* samples of the day, by id - 1, plus one if it had any row */
	size_t capacity;
	struct label_counts labels;
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
	assert(column == UINT32_MAX || column < c->series->column_count);
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

static void count_day(void *data, const struct series *series, size_t count)
{
	struct counts *n = data;

	for (size_t i = 0; i < count && i < n->capacity; i++) {
		_cleanup_(labels_done) struct labels labels = { 0 };

		if (!n->of_series[i])
			continue;
		series_labels(&series[i], &labels);
		label_counts_add(&n->labels, &labels, n->of_series[i] - 1);
	}
	if (n->capacity)
		memset(n->of_series, 0, n->capacity * sizeof(*n->of_series));
}

int sqlite_labels(struct store *store, const struct store_query *q, struct store_labels *ret, struct err *err)
{
	struct counts n = { 0 };
	const struct scan_visitor v = { .chunk = count_series, .day_end = count_day, .data = &n };
	int rc;

	label_counts_init(&n.labels, ret);
	rc = sqlite_scan((struct sqlite_store *)store, q, &v, NULL, err);
	if (rc < 0)
		store_labels_done(ret);
	else
		label_counts_end(&n.labels);
	label_counts_done(&n.labels);
	free(n.of_series);
	return rc < 0 ? rc : 0;
}
