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

/* The samples that shards have. */
struct there {
	struct there_day {
		uint32_t day;
		uint64_t bytes;
		bool goes;
	} *days;				/* oldest first */
	size_t count, capacity;
	uint64_t other_bytes;			/* of names, which days share */
	uint64_t runs, runs_bytes;
};

static void add_day(struct there *t, uint32_t day, uint64_t bytes)
{
	for (size_t i = 0; i < t->count; i++) {
		if (t->days[i].day == day) {
			t->days[i].bytes += bytes;
			return;
		}
	}
	GROW(&t->days, &t->capacity, t->count + 1);
	t->days[t->count++] = (struct there_day){ .day = day, .bytes = bytes };
}

static int read_days(struct clickhouse_store *s, unsigned shard, struct there *t, struct err *err)
{
	_cleanup_(buf_done) struct buf answer = { 0 };
	struct clickhouse_request q = {
		.sql = "SELECT toDate(partition) AS day, sum(bytes_on_disk) FROM system.parts WHERE active AND"
		       " database = currentDatabase() AND table IN ('samples', 'series') GROUP BY day ORDER BY day FORMAT RowBinary",
	};
	struct row_reader r;
	int rc;

	buf_init(&answer);
	rc = clickhouse_ask(s, shard, &q, &answer, err);
	if (rc < 0)
		return rc;
	for (r = row_reader_of(&answer); row_more(&r); ) {
		uint32_t day = (uint32_t)row_get(&r, 2);

		add_day(t, day, row_get(&r, 8));
	}
	return 0;
}

static int read_rest(struct clickhouse_store *s, unsigned shard, struct there *t, struct err *err)
{
	uint64_t bytes, runs, runs_bytes;
	int rc = clickhouse_ask_number(s, shard, "SELECT sum(bytes_on_disk) FROM system.parts WHERE active AND database = "
				       "currentDatabase() AND table IN ('stacks', 'frames', 'kinds')", &bytes, err);

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
	uint32_t x = ((const struct there_day *)a)->day, y = ((const struct there_day *)b)->day;

	return x < y ? -1 : x > y;
}

static int read_all(struct clickhouse_store *s, struct there *t, struct err *err)
{
	int rc = 0;

	for (unsigned i = 0; rc >= 0 && i < s->url.server_count; i++) {
		rc = read_days(s, i, t, err);
		if (rc >= 0)
			rc = read_rest(s, i, t, err);
	}
	if (t->count)
		qsort(t->days, t->count, sizeof(*t->days), compare_days);
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
					       " FORMAT RowBinary", (long long)DAY_BUCKETS, (long long)DAY_BUCKETS, t->days[0].day,
					       t->days[t->count - 1].day);
	struct row_reader r;
	int64_t first, last;
	int rc;

	assert(t->count > 0);
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

static void note(struct clickhouse_store *s, const struct there *t, const struct extent *e)
{
	lock_take(&s->lock);
	s->stats.bytes = t->other_bytes;
	s->stats.days = 0;
	for (size_t i = 0; i < t->count; i++) {
		s->stats.bytes += t->days[i].bytes;
		s->stats.days++;
	}
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

	for (unsigned i = 0; rc >= 0 && t.count && i < s->url.server_count; i++)
		rc = read_extent(s, i, &t, &e, err);
	if (rc >= 0)
		note(s, &t, &e);
	free(t.days);
	return rc;
}

/* --- Limits --- */

/* The newest day, the one that is being written, always stays. */
static size_t choose(struct there *t, const struct store_limits *l, int64_t now_ns)
{
	uint64_t bytes = t->other_bytes;
	size_t n = 0;

	for (size_t i = 0; i < t->count; i++)
		bytes += t->days[i].bytes;
	for (size_t i = 0; i + 1 < t->count; i++) {
		struct there_day *d = &t->days[i];

		d->goes = (l->max_age_ns > 0 && (d->day + 1) * NS_PER_DAY <= now_ns - l->max_age_ns) ||
			  (l->max_bytes > 0 && bytes > l->max_bytes);
		if (!d->goes)
			break;
		bytes -= d->bytes;
		n++;
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

static bool has_month(const struct there *t, uint32_t month)
{
	for (size_t i = 0; i < t->count; i++)
		if (clickhouse_month(t->days[i].day) == month)
			return true;
	return false;
}

/* Others that are about to write samples of that month may have sent its names already, but not before those of two days ago:
 * that is how long their caches remember, and more. */
static int drop_months(struct clickhouse_store *s, const struct there *t, int64_t now_ns, struct err *err)
{
	uint32_t recent = clickhouse_month(now_ns / NS_PER_DAY - 2);
	uint64_t month;

	assert(lock_is_held(&s->writer));
	for (unsigned i = 0; t->count && i < s->url.server_count; i++) {
		int rc = clickhouse_ask_number(s, i, "SELECT min(toUInt32(partition)) FROM system.parts WHERE active AND rows > 0 AND "
					       "database = currentDatabase() AND table = 'stacks'", &month, err);
		_cleanup_(freep) char *partition = xasprintf("%llu", (unsigned long long)month);

		if (rc < 0)
			return rc;
		if (!month || month >= recent || month >= clickhouse_month(t->days[0].day) || has_month(t, (uint32_t)month))
			continue;
		rc = drop(s, "stacks", partition, err);
		if (rc >= 0)
			rc = drop(s, "frames", partition, err);
		if (rc < 0)
			return rc;
	}
	return 0;
}

static int retain_days(struct clickhouse_store *s, const struct store_limits *l, int64_t now_ns, struct err *err)
{
	struct there t = { 0 };
	int rc = read_all(s, &t, err);
	size_t n = rc < 0 ? 0 : choose(&t, l, now_ns);

	assert(n == 0 || n < t.count);		/* the newest day stays */
	lock_take(&s->writer);
	for (size_t i = 0; rc >= 0 && i < n; i++)
		rc = drop_day(s, t.days[i].day, err);
	if (rc >= 0 && n) {
		memmove(t.days, t.days + n, (t.count - n) * sizeof(*t.days));
		t.count -= n;
	}
	/* With a TTL, the servers drop days, too. */
	if (rc >= 0 && (n || s->url.ttl_days))
		rc = drop_months(s, &t, now_ns, err);
	if (n)
		clickhouse_known_forget(s->known);
	lock_release(&s->writer);
	free(t.days);
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
