/* clickhouse_counts.c: counts samples over time and per label, without reading stacks. */
#include "clickhouse_ask.h"
#include "clickhouse_part.h"
#include "clickhouse_series.h"
#include "clickhouse_wire.h"
#include "clock.h"
#include "label_counts.h"
#include "mem.h"
#include "saturate.h"
#include <assert.h>
#include <string.h>

#define SAMPLE_KINDS	"kind IN (SELECT kind FROM kinds WHERE name = 'samples')"

/* Two sums, as the first wraps where the second says that it is above 2^64. */
#define COUNT		"sumIf(toUInt64(value), value > 0), sumIf(toFloat64(value), value > 0)"
#define COUNT_IF(c)	"sumIf(toUInt64(value), value > 0 AND " c "), sumIf(toFloat64(value), value > 0 AND " c ")"

static uint64_t get_count(struct row_reader *r)
{
	uint64_t exact = row_get(r, 8), bits = row_get(r, 8);
	double about;

	memcpy(&about, &bits, sizeof(about));
	return about >= 18446744073709551615. ? UINT64_MAX : exact;
}

struct counts {
	const struct store_query *q;
	const char *sql;
	struct clickhouse_part parts[CLICKHOUSE_SHARDS];
};

static struct counts *counts_new(const struct store_query *q, const char *sql)
{
	struct counts *n = xcalloc(1, sizeof(*n));

	n->q = q;
	n->sql = sql;
	for (unsigned i = 0; i < CLICKHOUSE_SHARDS; i++)
		clickhouse_part_init(&n->parts[i]);
	return n;
}

static void counts_free(struct counts *n)
{
	for (unsigned i = 0; i < CLICKHOUSE_SHARDS; i++)
		clickhouse_part_done(&n->parts[i]);
	free(n);
}

static int ask_rows(struct clickhouse_store *s, unsigned shard, void *data, struct err *err)
{
	struct counts *n = data;

	return clickhouse_ask(s, shard, &(struct clickhouse_request){ .sql = n->sql }, &n->parts[shard].rows, err);
}

/* --- Over time --- */

/* Times as numbers that fit: a range that begins before 1970 is added up per bucket, and put into steps here. */
static void put_steps(struct buf *sql, const struct store_query *q, int64_t step_ns)
{
	if (q->from_ns < 0)
		buf_printf(sql, "toInt64(day) * %lld + bucket", (long long)DAY_BUCKETS);
	else
		buf_printf(sql, "intDiv((toInt64(day) * %lld + bucket) * %lld - %lld, toInt64(%lld))", (long long)DAY_BUCKETS,
			   (long long)BATCH_BUCKET_NS, (long long)q->from_ns, (long long)step_ns);
}

static uint64_t step_of(const struct store_query *q, int64_t at, int64_t step_ns)
{
	if (q->from_ns >= 0)
		return at > 0 ? (uint64_t)at : 0;	/* the first bucket may begin before the range */
	return ((uint64_t)at * (uint64_t)BATCH_BUCKET_NS - (uint64_t)q->from_ns) / (uint64_t)step_ns;
}

static void add_steps(const struct buf *rows, const struct store_query *q, int64_t step_ns, uint64_t *samples, size_t n)
{
	struct row_reader r = row_reader_of(rows);

	while (row_more(&r)) {
		uint64_t step = step_of(q, (int64_t)row_get(&r, 8), step_ns), count = get_count(&r);

		if (!r.bad && step < n)
			saturating_count(&samples[step], count);
	}
}

int clickhouse_timeline(struct store *store, const struct store_query *q, int64_t step_ns, uint64_t *samples, size_t n,
			struct err *err)
{
	struct clickhouse_store *s = clickhouse_of(store);
	_cleanup_(buf_done) struct buf sql = { 0 };
	struct counts *c;
	int rc;

	assert(step_ns > 0 && step_ns % BATCH_BUCKET_NS == 0);
	buf_init(&sql);
	buf_puts(&sql, "SELECT ");
	put_steps(&sql, q, step_ns);
	buf_puts(&sql, " AS step, " COUNT " FROM samples WHERE " SAMPLE_KINDS);
	if (!sql_put_range(&sql, q))
		return 0;
	sql_put_series(&sql, q);
	buf_puts(&sql, " GROUP BY step FORMAT RowBinary");
	c = counts_new(q, sql.data);
	rc = clickhouse_each(s, ask_rows, c, err);
	for (unsigned i = 0; rc >= 0 && i < s->url.server_count; i++)
		add_steps(&c->parts[i].rows, q, step_ns, samples, n);
	counts_free(c);
	return rc;
}

/* --- Per label --- */

static int ask_rows_and_series(struct clickhouse_store *s, unsigned shard, void *data, struct err *err)
{
	struct counts *n = data;
	int rc = ask_rows(s, shard, data, err);

	if (rc >= 0)
		rc = clickhouse_fetch_series(s, shard, n->q, &n->parts[shard].series, err);
	if (rc < 0)
		clickhouse_part_reset(&n->parts[shard]);
	return rc;
}

static void add_labels(const struct buf *rows, struct clickhouse_series *series, struct label_counts *counts)
{
	struct row_reader r = row_reader_of(rows);

	while (row_more(&r)) {
		const struct clickhouse_series_row *row = clickhouse_find_series(series, row_get(&r, 8));
		uint64_t count = get_count(&r);

		if (!r.bad && row)
			label_counts_add(counts, &row->labels, count);
	}
}

int clickhouse_labels(struct store *store, const struct store_query *q, struct store_labels *ret, struct err *err)
{
	struct clickhouse_store *s = clickhouse_of(store);
	_cleanup_(buf_done) struct buf sql = { 0 };
	struct clickhouse_series series = { 0 };
	struct label_counts counts;
	struct counts *c;
	int rc;

	buf_init(&sql);
	buf_puts(&sql, "SELECT series, " COUNT_IF(SAMPLE_KINDS) " FROM samples WHERE kind > 0");
	if (!sql_put_range(&sql, q))
		return 0;
	sql_put_series(&sql, q);
	buf_puts(&sql, " GROUP BY series FORMAT RowBinary");
	c = counts_new(q, sql.data);
	rc = clickhouse_each(s, ask_rows_and_series, c, err);
	label_counts_init(&counts, ret);
	for (unsigned i = 0; rc >= 0 && i < s->url.server_count; i++)
		clickhouse_add_series(&series, &c->parts[i].series);
	for (unsigned i = 0; rc >= 0 && i < s->url.server_count; i++)
		add_labels(&c->parts[i].rows, &series, &counts);
	label_counts_end(&counts);
	label_counts_done(&counts);
	clickhouse_series_done(&series);
	counts_free(c);
	return rc;
}
