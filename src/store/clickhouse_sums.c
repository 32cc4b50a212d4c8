/* clickhouse_sums.c: sums the values of each series over time, without stacks.
 *
 * Each shard adds up per series, kind and step. A series is on several shards, so their sums are added up here before
 * they are passed on, one hour of a series at a time. */
#include "clickhouse_ask.h"
#include "clickhouse_part.h"
#include "clickhouse_series.h"
#include "clickhouse_wire.h"
#include "clock.h"
#include "mem.h"
#include "saturate.h"
#include <assert.h>
#include <string.h>

#define HOUR_BUCKETS	(DAY_BUCKETS / 24)

/* One sum. */
struct cell {
	uint32_t series;			/* index in `series` */
	uint32_t column;
	int64_t step, value;
};

struct sums {
	const struct store_query *q;
	const char *sql;
	int64_t buckets;			/* buckets per step; 0: only the series are requested */
	struct clickhouse_part parts[CLICKHOUSE_SHARDS];

	struct clickhouse_series series;
	struct clickhouse_kinds kinds;		/* known to any shard */
	uint64_t kindless;
	struct described {
		struct store_series series;
		uint32_t positions[PROFILE_COLUMNS];	/* positions of its columns, except derived time */
	} *described;				/* by index in `series` */
	struct cell *cells;
	size_t count, capacity;
	int64_t values[HOUR_BUCKETS * (PROFILE_COLUMNS + 1)];
};

/* A row: series, kind, step, sum. */
struct row {
	uint32_t series;			/* index in `series`; MAP_NONE if unknown */
	const struct clickhouse_kind *kind;	/* NULL if unknown */
	int64_t step, value;
};

static bool next_row(struct sums *n, struct row_reader *r, struct row *ret)
{
	const struct clickhouse_series_row *row;

	if (!row_more(r))
		return false;
	row = clickhouse_find_series(&n->series, row_get(r, 8));
	ret->series = row ? (uint32_t)(row - n->series.items) : MAP_NONE;
	ret->kind = clickhouse_find_kind(&n->kinds, row_get(r, 8));
	ret->step = (int64_t)row_get(r, 8);
	ret->value = (int64_t)row_get(r, 8);
	return !r->bad;
}

/* --- Columns --- */

static uint32_t find_column(const struct store_series *s, const char *name)
{
	for (uint32_t i = 0; i < s->column_count; i++)
		if (!strcmp(s->columns[i].name, name))
			return i;
	return UINT32_MAX;
}

/* Keeps columns in the order of their positions in the series. */
static void add_column(struct described *d, const struct clickhouse_kind *k)
{
	struct store_series *s = &d->series;
	uint32_t at = s->column_count;

	if (find_column(s, k->column) != UINT32_MAX || at == PROFILE_COLUMNS)
		return;
	for (; at && d->positions[at - 1] > k->position; at--) {
		s->columns[at] = s->columns[at - 1];
		d->positions[at] = d->positions[at - 1];
	}
	snprintf(s->columns[at].name, sizeof(s->columns[at].name), "%s", k->column);
	snprintf(s->columns[at].unit, sizeof(s->columns[at].unit), "%s", k->unit);
	d->positions[at] = k->position;
	s->column_count++;
}

static void add_time(struct store_series *s, const struct clickhouse_kind *k)
{
	const char *name = clickhouse_time_column(k);

	if (!name || find_column(s, name) != UINT32_MAX || s->column_count > PROFILE_COLUMNS)
		return;
	snprintf(s->columns[s->column_count].name, sizeof(s->columns[0].name), "%s", name);
	snprintf(s->columns[s->column_count++].unit, sizeof(s->columns[0].unit), "nanoseconds");
}

/* Adds derived time columns last, after all shards have returned the others. */
static void describe(struct sums *n, unsigned shards)
{
	n->described = xcalloc(n->series.count + 1, sizeof(*n->described));
	for (int times = 0; times < 2; times++)
		for (unsigned i = 0; i < shards; i++) {
			struct row_reader r = row_reader_of(&n->parts[i].rows);
			struct row row;

			while (next_row(n, &r, &row)) {
				n->kindless += !times && !row.kind;
				if (row.series == MAP_NONE || !row.kind)
					continue;
				if (times)
					add_time(&n->described[row.series].series, row.kind);
				else
					add_column(&n->described[row.series], row.kind);
			}
		}
	for (size_t i = 0; i < n->series.count; i++)
		if (n->series.items[i].matches)
			n->described[i].series.labels = n->series.items[i].labels;
}

/* --- Sums --- */

static void add_cell(struct sums *n, uint32_t series, uint32_t column, int64_t step, int64_t value)
{
	if (column == UINT32_MAX)
		return;
	GROW(&n->cells, &n->capacity, n->count + 1);
	n->cells[n->count++] = (struct cell){ series, column, step, value };
}

static void add_cells(struct sums *n, const struct clickhouse_part *p)
{
	struct row_reader r = row_reader_of(&p->rows);
	struct row row;

	while (next_row(n, &r, &row)) {
		const struct store_series *s;
		const char *time;

		if (row.series == MAP_NONE || !row.kind)
			continue;
		s = &n->described[row.series].series;
		time = clickhouse_time_column(row.kind);
		add_cell(n, row.series, find_column(s, row.kind->column), row.step, row.value);
		if (time)
			add_cell(n, row.series, find_column(s, time), row.step,
				 saturating_product(row.value, row.kind->period_ns));
	}
}

static int compare_cells(const void *a, const void *b)
{
	const struct cell *x = a, *y = b;

	if (x->series != y->series)
		return x->series < y->series ? -1 : 1;
	return x->step < y->step ? -1 : x->step > y->step;
}

/* Passes on the cells of one series and hour, beginning with cell `first`; returns their number. */
static size_t hand_over(struct sums *n, size_t first, store_sums_callback *take, void *data)
{
	const struct cell *c = &n->cells[first];
	struct store_series *s = &n->described[c->series].series;
	int64_t steps = HOUR_BUCKETS / n->buckets, hour = c->step / steps;
	size_t end = first;

	while (end < n->count && n->cells[end].series == c->series && n->cells[end].step / steps == hour)
		end++;
	steps = n->cells[end - 1].step - c->step + 1;
	assert(steps <= HOUR_BUCKETS);
	memset(n->values, 0, (size_t)steps * s->column_count * sizeof(*n->values));
	for (size_t i = first; i < end; i++)
		saturating_add(&n->values[(size_t)(n->cells[i].step - c->step) * s->column_count + n->cells[i].column],
			       n->cells[i].value);
	take(data, s, c->step * n->buckets * BATCH_BUCKET_NS, n->values, (size_t)steps);
	return end - first;
}

static void hand_over_all(struct sums *n, store_sums_callback *take, void *data)
{
	if (n->count)
		qsort(n->cells, n->count, sizeof(*n->cells), compare_cells);
	for (size_t i = 0; i < n->count; )
		i += hand_over(n, i, take, data);
	for (size_t i = 0; !n->buckets && i < n->series.count; i++)
		if (n->described[i].series.column_count)
			take(data, &n->described[i].series, 0, NULL, 0);
}

/* --- Queries --- */

static int ask_shard(struct clickhouse_store *s, unsigned shard, void *data, struct err *err)
{
	struct sums *n = data;
	struct clickhouse_part *p = &n->parts[shard];
	int rc = clickhouse_ask(s, shard, &(struct clickhouse_request){ .sql = n->sql }, &p->rows, err);

	if (rc >= 0)
		rc = clickhouse_fetch_kinds(s, shard, &p->kinds, err);
	if (rc >= 0)
		rc = clickhouse_fetch_series(s, shard, n->q, &p->series, err);
	if (rc < 0)
		clickhouse_part_reset(p);
	return rc;
}

/* Returns false if the range is empty. */
static bool put_sql(struct buf *sql, const struct store_query *q, int64_t buckets)
{
	if (buckets)
		buf_printf(sql, "SELECT series, kind, intDiv(toInt64(day) * %lld + bucket, toInt64(%lld)) AS step, " CLICKHOUSE_SUM
			   " FROM samples WHERE kind > 0", (long long)DAY_BUCKETS, (long long)buckets);
	else
		buf_puts(sql, "SELECT series, kind, toInt64(0) AS step, toInt64(0) FROM samples WHERE kind > 0");
	if (!sql_put_range(sql, q))
		return false;
	sql_put_series(sql, q);
	buf_puts(sql, " GROUP BY series, kind, step FORMAT RowBinary");
	return true;
}

static struct sums *sums_new(const struct store_query *q, const char *sql, int64_t buckets)
{
	struct sums *n = xcalloc(1, sizeof(*n));

	n->q = q;
	n->sql = sql;
	n->buckets = buckets;
	for (unsigned i = 0; i < CLICKHOUSE_SHARDS; i++)
		clickhouse_part_init(&n->parts[i]);
	return n;
}

static void sums_free(struct sums *n)
{
	for (unsigned i = 0; i < CLICKHOUSE_SHARDS; i++)
		clickhouse_part_done(&n->parts[i]);
	clickhouse_series_done(&n->series);
	clickhouse_kinds_done(&n->kinds);
	free(n->described);		/* its labels belong to the series */
	free(n->cells);
	free(n);
}

int clickhouse_sums(struct store *store, const struct store_query *q, int64_t step_ns, store_sums_callback *take, void *data,
		    struct err *err)
{
	struct clickhouse_store *s = clickhouse_of(store);
	_cleanup_(buf_done) struct buf sql = { 0 };
	unsigned shards = s->url.server_count;
	struct sums *n;
	int rc;

	assert(step_ns % BATCH_BUCKET_NS == 0 && step_ns <= HOUR_BUCKETS * BATCH_BUCKET_NS);
	buf_init(&sql);
	if (!put_sql(&sql, q, step_ns / BATCH_BUCKET_NS))
		return 0;
	n = sums_new(q, sql.data, step_ns / BATCH_BUCKET_NS);
	rc = clickhouse_each(s, ask_shard, n, err);
	for (unsigned i = 0; rc >= 0 && i < shards; i++) {
		clickhouse_add_series(&n->series, &n->parts[i].series);
		clickhouse_merge_kinds(&n->kinds, &n->parts[i].kinds);
	}
	if (rc >= 0)
		describe(n, shards);
	for (unsigned i = 0; rc >= 0 && n->buckets && i < shards; i++)
		add_cells(n, &n->parts[i]);
	if (rc >= 0) {
		hand_over_all(n, take, data);
		clickhouse_log_kindless(s, n->kindless);
	}
	sums_free(n);
	return rc < 0 ? rc : 0;
}
