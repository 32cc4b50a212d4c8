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

/* Two sums: the first wraps, and the second tells whether the total is above 2^64. */
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
	int64_t step_ns;			/* 0: per series */
	struct clickhouse_part parts[CLICKHOUSE_SHARDS];
	struct clickhouse_kinds kinds;		/* known to any shard */
	uint64_t kindless;
};

static struct counts *counts_new(const struct store_query *q, int64_t step_ns)
{
	struct counts *n = xcalloc(1, sizeof(*n));

	n->q = q;
	n->step_ns = step_ns;
	for (unsigned i = 0; i < CLICKHOUSE_SHARDS; i++)
		clickhouse_part_init(&n->parts[i]);
	return n;
}

static void counts_free(struct counts *n)
{
	for (unsigned i = 0; i < CLICKHOUSE_SHARDS; i++)
		clickhouse_part_done(&n->parts[i]);
	clickhouse_kinds_done(&n->kinds);
	free(n);
}

static bool is_of_samples(const struct clickhouse_kind *k)
{
	return !strcmp(k->column, "samples");
}

/* Puts "kind IN (0, 1, 2)" with the kinds of samples; 0 is never counted. */
static void put_sample_kinds(struct buf *sql, const struct clickhouse_kinds *k)
{
	buf_puts(sql, "kind IN (0");
	for (size_t i = 0; i < k->count; i++)
		if (is_of_samples(&k->items[i]))
			buf_printf(sql, ", %llu", (unsigned long long)k->items[i].name);
	buf_puts(sql, ")");
}

/* Puts the range, the labels, and the end of a SELECT by `what` for kinds that the shard knows, followed by a SELECT
 * for all other kinds. */
static void put_rest(struct buf *sql, const struct store_query *q, const struct clickhouse_kinds *k, const char *what, const char *name)
{
	sql_put_range(sql, q);
	sql_put_series(sql, q);
	buf_printf(sql, " GROUP BY %s UNION ALL SELECT %s AS %s, kind AS of_kind, " COUNT " FROM samples WHERE ", name, what, name);
	sql_put_other_kinds(sql, k);
	sql_put_range(sql, q);
	sql_put_series(sql, q);
	buf_printf(sql, " GROUP BY %s, kind FORMAT RowBinary", name);
}

/* Tells whether a row of this kind counts. Kind 0 means that the shard already counted samples only. */
static bool counts(struct counts *n, uint64_t kind)
{
	const struct clickhouse_kind *k = kind ? clickhouse_find_kind(&n->kinds, kind) : NULL;

	n->kindless += kind && !k;
	return !kind || (k && is_of_samples(k));
}

/* Collects the kinds of all shards, before rows are added. */
static void gather_kinds(struct counts *n, unsigned shards)
{
	for (unsigned i = 0; i < shards; i++)
		clickhouse_merge_kinds(&n->kinds, &n->parts[i].kinds);
}

static int ask_rows(struct clickhouse_store *s, unsigned shard, const char *sql, struct clickhouse_part *p, struct err *err)
{
	int rc = clickhouse_ask(s, shard, &(struct clickhouse_request){ .sql = sql }, &p->rows, err);

	/* New kinds may appear only in the rows. */
	return rc < 0 || !p->rows.size ? rc : clickhouse_fetch_kinds(s, shard, &p->kinds, err);
}

/* --- Over time --- */

/* Converts times to small enough numbers: a range that begins before 1970 is summed per bucket, and assigned to steps
 * here. */
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

static void add_steps(struct counts *c, const struct buf *rows, uint64_t *samples, size_t n)
{
	struct row_reader r = row_reader_of(rows);

	while (row_more(&r)) {
		uint64_t step = step_of(c->q, (int64_t)row_get(&r, 8), c->step_ns), kind = row_get(&r, 8), count = get_count(&r);

		if (!r.bad && counts(c, kind) && step < n)
			saturating_count(&samples[step], count);
	}
}

static int ask_steps(struct clickhouse_store *s, unsigned shard, void *data, struct err *err)
{
	_cleanup_(buf_done) struct buf sql = { 0 }, step = { 0 };
	struct counts *n = data;
	struct clickhouse_part *p = &n->parts[shard];
	int rc = clickhouse_fetch_kinds(s, shard, &p->kinds, err);

	buf_init(&sql);
	buf_init(&step);
	put_steps(&step, n->q, n->step_ns);
	buf_printf(&sql, "SELECT %s AS step, toUInt64(0) AS of_kind, " COUNT " FROM samples WHERE kind > 0 AND ", step.data);
	put_sample_kinds(&sql, &p->kinds);
	put_rest(&sql, n->q, &p->kinds, step.data, "step");
	if (rc >= 0)
		rc = ask_rows(s, shard, sql.data, p, err);
	if (rc < 0)
		clickhouse_part_reset(p);
	return rc;
}

int clickhouse_timeline(struct store *store, const struct store_query *q, int64_t step_ns, uint64_t *samples, size_t n,
			struct err *err)
{
	struct clickhouse_store *s = clickhouse_of(store);
	_cleanup_(buf_done) struct buf range = { 0 };
	struct counts *c;
	int rc;

	assert(step_ns > 0 && step_ns % BATCH_BUCKET_NS == 0);
	buf_init(&range);
	if (!sql_put_range(&range, q))
		return 0;
	c = counts_new(q, step_ns);
	rc = clickhouse_each(s, ask_steps, c, err);
	gather_kinds(c, s->url.server_count);
	for (unsigned i = 0; rc >= 0 && i < s->url.server_count; i++)
		add_steps(c, &c->parts[i].rows, samples, n);
	clickhouse_log_kindless(s, c->kindless);
	counts_free(c);
	return rc;
}

/* --- Per label --- */

static int ask_labels(struct clickhouse_store *s, unsigned shard, void *data, struct err *err)
{
	_cleanup_(buf_done) struct buf sql = { 0 }, samples = { 0 };
	struct counts *n = data;
	struct clickhouse_part *p = &n->parts[shard];
	int rc = clickhouse_fetch_kinds(s, shard, &p->kinds, err);

	buf_init(&sql);
	buf_init(&samples);
	put_sample_kinds(&samples, &p->kinds);
	buf_printf(&sql, "SELECT series AS of_series, toUInt64(0) AS of_kind, " COUNT_IF("%s") " FROM samples WHERE kind > 0", samples.data,
		   samples.data);
	put_rest(&sql, n->q, &p->kinds, "series", "of_series");
	if (rc >= 0)
		rc = ask_rows(s, shard, sql.data, p, err);
	if (rc >= 0)
		rc = clickhouse_fetch_series(s, shard, n->q, &p->series, err);
	if (rc < 0)
		clickhouse_part_reset(p);
	return rc;
}

static void add_labels(struct counts *n, const struct buf *rows, struct clickhouse_series *series, struct label_counts *labels)
{
	struct row_reader r = row_reader_of(rows);

	while (row_more(&r)) {
		const struct clickhouse_series_row *row = clickhouse_find_series(series, row_get(&r, 8));
		uint64_t kind = row_get(&r, 8), count = get_count(&r);
		bool is_counted = counts(n, kind);

		if (!r.bad && row)
			label_counts_add(labels, &row->labels, is_counted ? count : 0);
	}
}

int clickhouse_labels(struct store *store, const struct store_query *q, struct store_labels *ret, struct err *err)
{
	struct clickhouse_store *s = clickhouse_of(store);
	_cleanup_(buf_done) struct buf range = { 0 };
	struct clickhouse_series series = { 0 };
	struct label_counts labels;
	struct counts *c;
	int rc;

	buf_init(&range);
	if (!sql_put_range(&range, q))
		return 0;
	c = counts_new(q, 0);
	rc = clickhouse_each(s, ask_labels, c, err);
	gather_kinds(c, s->url.server_count);
	label_counts_init(&labels, ret);
	for (unsigned i = 0; rc >= 0 && i < s->url.server_count; i++)
		clickhouse_add_series(&series, &c->parts[i].series);
	for (unsigned i = 0; rc >= 0 && i < s->url.server_count; i++)
		add_labels(c, &c->parts[i].rows, &series, &labels);
	clickhouse_log_kindless(s, c->kindless);
	label_counts_end(&labels);
	label_counts_done(&labels);
	clickhouse_series_done(&series);
	counts_free(c);
	return rc;
}
