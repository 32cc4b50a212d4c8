/* clickhouse_retention.c: days that are dropped for their age or the size of all, and what is there now.
 *
 * A day is a partition of each shard: dropping it is immediate and reads nothing. Names of stacks and frames are kept by
 * the month, and go when no day of it is left. */
#include "clickhouse_ask.h"
#include "clickhouse_known.h"
#include "clickhouse_wire.h"
#include "clock.h"
#include "log.h"
#include "mem.h"
#include <assert.h>
#include <string.h>

/* Days since 1970 or months (202611), and their sizes in two tables of all shards. */
struct partitions {
	struct partition {
		uint32_t number;
		uint64_t bytes;
	} *items;
	size_t count, capacity;
};

/* The samples that shards have. */
struct there {
	struct partitions days;			/* oldest first */
	struct partitions months;		/* months with names of stacks and frames */
	uint64_t other_bytes;			/* bytes of kinds */
	uint64_t runs, runs_bytes;
};

static void add_partition(struct partitions *t, uint32_t number, uint64_t bytes)
{
	for (size_t i = 0; i < t->count; i++) {
		if (t->items[i].number == number) {
			t->items[i].bytes += bytes;
			return;
		}
	}
	GROW(&t->items, &t->capacity, t->count + 1);
	t->items[t->count++] = (struct partition){ number, bytes };
}

static int read_partitions(struct clickhouse_store *s, unsigned shard, const char *number, const char *tables, struct partitions *t,
			   struct err *err)
{
	_cleanup_(buf_done) struct buf answer = { 0 };
	_cleanup_(freep) char *sql = xasprintf("SELECT %s AS number, sum(bytes_on_disk) FROM system.parts WHERE active AND rows > 0 AND"
					       " database = currentDatabase() AND table IN (%s) GROUP BY number FORMAT RowBinary", number,
					       tables);
	struct row_reader r;
	int rc;

	buf_init(&answer);
	rc = clickhouse_ask(s, shard, &(struct clickhouse_request){ .sql = sql }, &answer, err);
	if (rc < 0)
		return rc;
	for (r = row_reader_of(&answer); row_more(&r); ) {
		uint32_t partition = (uint32_t)row_get(&r, 4);

		add_partition(t, partition, row_get(&r, 8));
	}
	return 0;
}

static void there_done(struct there *t)
{
	free(t->days.items);
	free(t->months.items);
}

static int read_rest(struct clickhouse_store *s, unsigned shard, struct there *t, struct err *err)
{
	uint64_t bytes, runs, runs_bytes;
	int rc = clickhouse_ask_number(s, shard, "SELECT sum(bytes_on_disk) FROM system.parts WHERE active AND database = "
				       "currentDatabase() AND table = 'kinds'", &bytes, err);

	if (rc >= 0)
		rc = clickhouse_ask_number(s, shard, "SELECT count() FROM runs WHERE seq NOT IN (SELECT seq FROM runs_removed)",
					   &runs, err);
	if (rc >= 0)
		rc = clickhouse_ask_number(s, shard, "SELECT sum(bytes) FROM runs WHERE seq NOT IN (SELECT seq FROM runs_removed)",
					   &runs_bytes, err);
	if (rc < 0)
		return rc;
	t->other_bytes += bytes;
	t->runs += runs;
	t->runs_bytes += runs_bytes;
	return 0;
}

static int compare_days(const void *a, const void *b)
{
	uint32_t x = ((const struct partition *)a)->number, y = ((const struct partition *)b)->number;

	return x < y ? -1 : x > y;
}

static int read_all(struct clickhouse_store *s, struct there *t, struct err *err)
{
	int rc = 0;

	for (unsigned i = 0; rc >= 0 && i < s->url.server_count; i++) {
		rc = read_partitions(s, i, "toUInt32(toDate(partition))", "'samples', 'series'", &t->days, err);
		if (rc >= 0)
			rc = read_partitions(s, i, "toUInt32(partition)", "'stacks', 'frames'", &t->months, err);
		if (rc >= 0)
			rc = read_rest(s, i, t, err);
	}
	if (t->days.count)
		qsort(t->days.items, t->days.count, sizeof(*t->days.items), compare_days);
	return rc;
}

/* --- For the statistics --- */

struct extent {
	int64_t first, last;			/* buckets; both -1: none */
};

static int read_extent(struct clickhouse_store *s, unsigned shard, const struct there *t, struct extent *e,
		       struct err *err)
{
	_cleanup_(buf_done) struct buf answer = { 0 };
	_cleanup_(freep) char *sql = xasprintf("SELECT toInt64(min(toInt64(day) * %lld + bucket)), toInt64(max(toInt64(day) * %lld +"
					       " value)) FROM samples WHERE kind = 0 AND day IN (toDate(%u), toDate(%u)) HAVING count() > 0"
					       " FORMAT RowBinary", (long long)DAY_BUCKETS, (long long)DAY_BUCKETS, t->days.items[0].number,
					       t->days.items[t->days.count - 1].number);
	struct row_reader r;
	int64_t first, last;
	int rc;

	assert(t->days.count > 0);
	buf_init(&answer);
	rc = clickhouse_ask(s, shard, &(struct clickhouse_request){ .sql = sql }, &answer, err);
	if (rc < 0 || answer.size != 16)
		return rc;
	r = row_reader_of(&answer);
	first = (int64_t)row_get(&r, 8);
	last = (int64_t)row_get(&r, 8);
	e->first = e->first < 0 || first < e->first ? first : e->first;
	e->last = last > e->last ? last : e->last;
	return 0;
}

static uint64_t bytes_of(const struct there *t)
{
	uint64_t bytes = t->other_bytes;

	for (size_t i = 0; i < t->days.count; i++)
		bytes += t->days.items[i].bytes;
	for (size_t i = 0; i < t->months.count; i++)
		bytes += t->months.items[i].bytes;
	return bytes;
}

static void note(struct clickhouse_store *s, const struct there *t, const struct extent *e)
{
	lock_take(&s->lock);
	s->stats.bytes = bytes_of(t);
	s->stats.days = t->days.count;
	s->stats.oldest_ns = e->first < 0 ? 0 : e->first * BATCH_BUCKET_NS;
	s->stats.newest_ns = e->first < 0 ? 0 : (e->last + 1) * BATCH_BUCKET_NS;
	s->stats.runs = t->runs;
	s->stats.runs_bytes = t->runs_bytes;
	lock_release(&s->lock);
}

int clickhouse_measure(struct clickhouse_store *s, struct err *err)
{
	struct there t = { 0 };
	struct extent e = { -1, -1 };
	int rc = read_all(s, &t, err);

	for (unsigned i = 0; rc >= 0 && t.days.count && i < s->url.server_count; i++)
		rc = read_extent(s, i, &t, &e, err);
	if (rc >= 0)
		note(s, &t, &e);
	there_done(&t);
	return rc;
}

/* --- Limits --- */

/* Names are sent again after a day (clickhouse_known.h): those of the last two days' months may be about to be used. */
static uint32_t recent_month(int64_t now_ns)
{
	return clickhouse_month(now_ns / NS_PER_DAY - 2);
}

/* Names of months before that of the oldest day that stays: none of their samples is left. */
static uint64_t dead_bytes(const struct there *t, size_t oldest, int64_t now_ns)
{
	uint32_t first = clickhouse_month(t->days.items[oldest].number), recent = recent_month(now_ns);
	uint64_t bytes = 0;

	for (size_t i = 0; i < t->months.count; i++)
		if (t->months.items[i].number < first && t->months.items[i].number < recent)
			bytes += t->months.items[i].bytes;
	return bytes;
}

/* The newest day, the one that is being written, always stays. */
static size_t choose(struct there *t, const struct store_limits *l, int64_t now_ns)
{
	uint64_t bytes = bytes_of(t);
	size_t n = 0;

	for (; n + 1 < t->days.count; n++) {
		const struct partition *d = &t->days.items[n];
		bool is_old = l->max_age_ns > 0 && (d->number + 1) * NS_PER_DAY <= now_ns - l->max_age_ns;

		if (!is_old && (!l->max_bytes || bytes - dead_bytes(t, n, now_ns) <= l->max_bytes))
			break;
		bytes -= d->bytes;
	}
	return n;
}

static int drop(struct clickhouse_store *s, const char *table, const char *partition, struct err *err)
{
	for (unsigned i = 0; i < s->url.server_count; i++) {
		_cleanup_(freep) char *sql = xasprintf("ALTER TABLE %s DROP PARTITION %s", table, partition);
		int rc = clickhouse_run(s, i, sql, err);

		if (rc < 0)
			return rc;
	}
	return 0;
}

static int drop_day(struct clickhouse_store *s, uint32_t day, struct err *err)
{
	_cleanup_(freep) char *partition = NULL;
	char date[24];
	int rc;

	assert(lock_is_held(&s->writer));
	clock_format(day * NS_PER_DAY, date, sizeof(date));
	partition = xasprintf("'%.10s'", date);
	rc = drop(s, "samples", partition, err);
	if (rc >= 0)
		rc = drop(s, "series", partition, err);
	if (rc < 0)
		return rc;
	log_info("expired the day %.10s, above the limits of age or size", date);
	lock_take(&s->lock);
	s->stats.days_expired++;
	lock_release(&s->lock);
	return 0;
}

/* Others that are about to write samples of that month may have sent its names already, but not before those of two days ago:
 * that is how long their caches remember, and more. */
static int drop_months(struct clickhouse_store *s, const struct there *t, int64_t now_ns, struct err *err)
{
	uint32_t first = t->days.count ? clickhouse_month(t->days.items[0].number) : 0, recent = recent_month(now_ns);
	int rc = 0;

	assert(lock_is_held(&s->writer));
	for (size_t i = 0; i < t->months.count && rc >= 0; i++) {
		uint32_t month = t->months.items[i].number;
		_cleanup_(freep) char *partition = xasprintf("%u", month);

		if (month >= first || month >= recent)
			continue;
		rc = drop(s, "stacks", partition, err);
		if (rc >= 0)
			rc = drop(s, "frames", partition, err);
	}
	return rc;
}

static int retain_days(struct clickhouse_store *s, const struct store_limits *l, int64_t now_ns, struct err *err)
{
	struct there t = { 0 };
	int rc = read_all(s, &t, err);
	size_t n = rc < 0 ? 0 : choose(&t, l, now_ns);

	assert(n == 0 || n < t.days.count);		/* the newest day stays */
	lock_take(&s->writer);
	for (size_t i = 0; rc >= 0 && i < n; i++)
		rc = drop_day(s, t.days.items[i].number, err);
	if (rc >= 0 && n) {
		memmove(t.days.items, t.days.items + n, (t.days.count - n) * sizeof(*t.days.items));
		t.days.count -= n;
	}
	if (rc >= 0)
		rc = drop_months(s, &t, now_ns, err);
	if (n)
		clickhouse_known_forget(s->known);
	lock_release(&s->writer);
	there_done(&t);
	return rc;
}

int clickhouse_maintain(struct store *store, const struct store_limits *l, int64_t now_ns, struct err *err)
{
	struct clickhouse_store *s = clickhouse_of(store);
	int rc = s->mode == CLICKHOUSE_WRITE ? clickhouse_prepare(s, err) :
		 err_set(err, -EROFS, "the store was opened for %s only", s->mode == CLICKHOUSE_READ ? "reading" : "adding runs");

	if (rc >= 0)
		rc = retain_days(s, l, now_ns, err);
	if (rc >= 0)
		rc = clickhouse_retain_runs(s, l, now_ns, err);
	return rc < 0 ? rc : clickhouse_measure(s, err);
}
