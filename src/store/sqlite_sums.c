/* sqlite_sums.c: sums the values of each series over time, without stacks. */
#include "chunk.h"
#include "mem.h"
#include "saturate.h"
#include "sqlite_scan.h"
#include <assert.h>
#include <string.h>

struct sums {
	store_sums_callback *take;
	void *data;
	unsigned buckets;		/* buckets per step; 0: only the series are requested */

	/* for the current day */
	struct store_series *series;	/* by id - 1; columns are added when they are needed */
	size_t count, capacity;
	int64_t values[CHUNK_BUCKETS * (PROFILE_COLUMNS + 1)];
};

static void describe(const struct series *s, struct store_series *ret)
{
	const char *time = series_time_column(s);

	*ret = (struct store_series){ .column_count = s->column_count };
	series_labels(s, &ret->labels);
	for (uint32_t i = 0; i < s->column_count; i++) {
		memcpy(ret->columns[i].name, s->columns[i].name, sizeof(ret->columns[i].name));
		memcpy(ret->columns[i].unit, s->columns[i].unit, sizeof(ret->columns[i].unit));
	}
	if (time) {
		assert(ret->column_count < ARRAY_SIZE(ret->columns));
		snprintf(ret->columns[ret->column_count].name, sizeof(ret->columns[0].name), "%s", time);
		snprintf(ret->columns[ret->column_count++].unit, sizeof(ret->columns[0].unit), "nanoseconds");
	}
}

static int take_series(void *data, const struct series *s)
{
	struct store_series series;
	struct sums *n = data;

	describe(s, &series);
	n->take(n->data, &series, 0, NULL, 0);
	labels_done(&series.labels);
	return 0;
}

/* Returns the series of a chunk: the same struct for the whole day. */
static struct store_series *series_of(struct sums *n, const struct scan_chunk *c)
{
	assert(c->id > 0);
	if (n->count < c->id) {
		GROW(&n->series, &n->capacity, c->id);
		memset(n->series + n->count, 0, (c->id - n->count) * sizeof(*n->series));
		n->count = c->id;
	}
	if (!n->series[c->id - 1].column_count)
		describe(c->series, &n->series[c->id - 1]);
	return &n->series[c->id - 1];
}

static void add_row(const struct series *s, const int64_t *row, uint32_t columns, int64_t *sums)
{
	assert(columns == s->column_count || (columns == s->column_count + 1 && s->samples < s->column_count));
	for (uint32_t i = 0; i < s->column_count; i++)
		saturating_add(&sums[i], row[i]);
	if (columns > s->column_count)
		saturating_add(&sums[s->column_count], saturating_product(row[s->samples], s->period_ns));
}

static int sum_chunk(void *data, struct day *d, const struct scan_chunk *c, struct err *err)
{
	struct sums *n = data;
	struct store_series *s = series_of(n, c);
	unsigned first = c->reader->first_bucket / n->buckets, last = c->reader->last_bucket / n->buckets, bucket;
	int64_t row[PROFILE_COLUMNS];
	uint32_t stack;
	bool any = false;
	int rc;

	(void)d;
	assert(first <= last && last < CHUNK_BUCKETS);
	memset(n->values, 0, (last - first + 1) * s->column_count * sizeof(*n->values));
	while ((rc = scan_next(c, &stack, &bucket, row)) > 0) {
		unsigned step = bucket / n->buckets;

		if (step < first || step > last)
			return -EBADMSG;
		add_row(c->series, row, s->column_count, &n->values[(step - first) * s->column_count]);
		any = true;
	}
	if (any)
		n->take(n->data, s, (c->hour_bucket + (int64_t)first * n->buckets) * BATCH_BUCKET_NS, n->values, last - first + 1);
	return rc;
}

static void end_day(void *data, const struct series *series, size_t count)
{
	struct sums *n = data;

	(void)series;
	(void)count;
	for (size_t i = 0; i < n->count; i++)
		labels_done(&n->series[i].labels);
	n->count = 0;
}

int sqlite_sums(struct store *store, const struct store_query *q, int64_t step_ns, store_sums_callback *take, void *data,
		struct err *err)
{
	struct sums *n = xcalloc(1, sizeof(*n));
	struct scan_visitor list = { .series = take_series, .data = n };
	struct scan_visitor add = { .chunk = sum_chunk, .day_end = end_day, .data = n };
	int rc;

	n->take = take;
	n->data = data;
	n->buckets = (unsigned)(step_ns / BATCH_BUCKET_NS);
	rc = sqlite_scan((struct sqlite_store *)store, q, step_ns ? &add : &list, NULL, err);
	end_day(n, NULL, 0);
	free(n->series);
	free(n);
	return rc;
}
