/* clickhouse_retention.c: drops days by age or total size, and measures the stored data.
 *
 * A day is a partition of each shard: dropping it is immediate and reads nothing. Its series are a partition of another table;
 * names of stacks and frames are kept by the month. Both are dropped once that day or month has no samples, but not
 * while another daemon that has already sent the names may still write samples with them (see NAMES_STAY_NS). */
#include "clickhouse_ask.h"
#include "clickhouse_known.h"
#include "clickhouse_lost_series.h"
#include "clickhouse_schema.h"
#include "clickhouse_wire.h"
#include "clock.h"
#include "log.h"
#include "mem.h"
#include <assert.h>
#include <string.h>

/* A daemon remembers for a day which names it has sent (clickhouse_known.h); it would send those of older parts
 * again. */
#define NAMES_STAY_NS	(26 * 60 * 60 * NS_PER_SECOND)

/* Days since 1970, or months (such as 202611), of some tables, over all shards. */
struct partitions {
	struct partition {
		uint32_t number;
		uint64_t bytes;
		int64_t written_s;		/* when its newest part was inserted or merged, unix time */
	} *items;
	size_t count, capacity;
};

/* The stored samples of all shards. */
struct stored {
	struct partitions days;			/* oldest first */
	struct partitions series;		/* by the day */
	struct partitions months;		/* months with names of stacks and frames */
	uint64_t other_bytes;			/* size of the table of kinds */
	uint64_t runs, runs_bytes;
};

static void add_partition(struct partitions *t, struct partition p)
{
	for (size_t i = 0; i < t->count; i++) {
		struct partition *same = &t->items[i];

		if (same->number != p.number)
			continue;
		same->bytes += p.bytes;
		same->written_s = p.written_s > same->written_s ? p.written_s : same->written_s;
		return;
	}
	GROW(&t->items, &t->capacity, t->count + 1);
	t->items[t->count++] = p;
}

static int read_partitions(struct clickhouse_store *s, unsigned shard, const char *number, const char *tables, struct partitions *t,
			   struct err *err)
{
	_cleanup_(buf_done) struct buf answer = { 0 };
	_cleanup_(freep) char *sql = xasprintf("SELECT %s AS number, sum(bytes_on_disk), toInt64(max(modification_time)) FROM system.parts"
					       " WHERE active AND rows > 0 AND database = currentDatabase() AND table IN (%s) GROUP BY number"
					       " FORMAT RowBinary", number, tables);
	struct row_reader r;
	int rc;

	buf_init(&answer);
	rc = clickhouse_ask(s, shard, &(struct clickhouse_request){ .sql = sql }, &answer, err);
	if (rc < 0)
		return rc;
	for (r = row_reader_of(&answer); row_more(&r); ) {
		struct partition p = { .number = (uint32_t)row_get(&r, 4) };

		p.bytes = row_get(&r, 8);
		p.written_s = (int64_t)row_get(&r, 8);
		add_partition(t, p);
	}
	return 0;
}

static void stored_done(struct stored *t)
{
	free(t->days.items);
	free(t->series.items);
	free(t->months.items);
}

static int read_rest(struct clickhouse_store *s, unsigned shard, struct stored *t, struct err *err)
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

static int read_all(struct clickhouse_store *s, struct stored *t, struct err *err)
{
	int rc = 0;

	for (unsigned i = 0; rc >= 0 && i < s->url.server_count; i++) {
		rc = read_partitions(s, i, "toUInt32(toDate(partition))", "'samples'", &t->days, err);
		if (rc >= 0)
			rc = read_partitions(s, i, "toUInt32(toDate(partition))", "'series'", &t->series, err);
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

static int read_extent(struct clickhouse_store *s, unsigned shard, const struct stored *t, struct extent *e,
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

/* Returns the size of the partitions before `number`. */
static uint64_t bytes_before(const struct partitions *t, uint32_t number)
{
	uint64_t bytes = 0;

	for (size_t i = 0; i < t->count; i++)
		if (t->items[i].number < number)
			bytes += t->items[i].bytes;
	return bytes;
}

static uint64_t bytes_of(const struct stored *t)
{
	return t->other_bytes + bytes_before(&t->days, UINT32_MAX) + bytes_before(&t->series, UINT32_MAX) +
	       bytes_before(&t->months, UINT32_MAX);
}

static void note(struct clickhouse_store *s, const struct stored *t, const struct extent *e)
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
	struct stored t = { 0 };
	struct extent e = { -1, -1 };
	int rc = read_all(s, &t, err);

	for (unsigned i = 0; rc >= 0 && t.days.count && i < s->url.server_count; i++)
		rc = read_extent(s, i, &t, &e, err);
	if (rc >= 0)
		note(s, &t, &e);
	stored_done(&t);
	return rc;
}

/* --- Limits --- */

/* Returns the size of names without samples once the days before `oldest` are dropped. They count as dropped with
 * these days, though they may stay for a while. */
static uint64_t dead_bytes(const struct stored *t, size_t oldest)
{
	uint32_t day = t->days.items[oldest].number;

	assert(oldest < t->days.count);
	return bytes_before(&t->series, day) + bytes_before(&t->months, clickhouse_month(day));
}

static bool is_old(const struct partition *day, const struct store_limits *l, int64_t now_ns)
{
	return l->max_age_ns > 0 && (day->number + 1) * NS_PER_DAY <= now_ns - l->max_age_ns;
}

/* Chooses days to drop. The newest day, which is being written, always stays. */
static size_t choose(struct stored *t, const struct store_limits *l, int64_t now_ns)
{
	uint64_t bytes = bytes_of(t);
	size_t n = 0;

	for (; n + 1 < t->days.count; n++) {
		const struct partition *d = &t->days.items[n];

		if (!is_old(d, l, now_ns) && (!l->max_bytes || bytes - dead_bytes(t, n) <= l->max_bytes))
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

static int drop_date(struct clickhouse_store *s, const char *table, uint32_t day, struct err *err)
{
	_cleanup_(freep) char *partition = NULL;
	char date[24];

	clock_format(day * NS_PER_DAY, date, sizeof(date));
	partition = xasprintf("'%.10s'", date);
	return drop(s, table, partition, err);
}

static int drop_day(struct clickhouse_store *s, uint32_t day, enum store_removal reason, struct err *err)
{
	char date[24];
	int rc = drop_date(s, "samples", day, err);

	assert(lock_is_held(&s->writer));
	if (rc < 0)
		return rc;
	clock_format(day * NS_PER_DAY, date, sizeof(date));
	if (reason == STORE_REMOVED_AGE)
		log_info("expired the day %.10s: older than the limit", date);
	else
		log_info("evicted the day %.10s: the store exceeded its size limit", date);
	lock_take(&s->lock);
	s->stats.days_removed[reason]++;
	lock_release(&s->lock);
	return 0;
}

static bool is_in_use(const struct partition *p, uint32_t first, int64_t now_ns)
{
	return p->number >= first || p->written_s * NS_PER_SECOND > now_ns - NAMES_STAY_NS;
}

static int drop_series(struct clickhouse_store *s, const struct stored *t, int64_t now_ns, struct err *err)
{
	int rc = 0;

	assert(t->days.count > 0);
	for (size_t i = 0; i < t->series.count && rc >= 0; i++) {
		const struct partition *p = &t->series.items[i];

		if (is_in_use(p, t->days.items[0].number, now_ns))
			continue;
		rc = drop_date(s, "series", p->number, err);
		clickhouse_known_forget(s->known);
	}
	return rc;
}

static int drop_months(struct clickhouse_store *s, const struct stored *t, int64_t now_ns, struct err *err)
{
	int rc = 0;

	assert(t->days.count > 0);
	for (size_t i = 0; i < t->months.count && rc >= 0; i++) {
		const struct partition *p = &t->months.items[i];
		_cleanup_(freep) char *partition = xasprintf("%u", p->number);

		if (is_in_use(p, clickhouse_month(t->days.items[0].number), now_ns))
			continue;
		rc = drop(s, "stacks", partition, err);
		if (rc >= 0)
			rc = drop(s, "frames", partition, err);
		clickhouse_known_forget(s->known);
	}
	return rc;
}

static int drop_names(struct clickhouse_store *s, const struct stored *t, int64_t now_ns, struct err *err)
{
	int rc;

	assert(lock_is_held(&s->writer));
	if (!t->days.count)
		return 0;
	rc = drop_series(s, t, now_ns, err);
	return rc < 0 ? rc : drop_months(s, t, now_ns, err);
}

static int retain_days(struct clickhouse_store *s, const struct store_limits *l, int64_t now_ns, struct err *err)
{
	struct stored t = { 0 };
	int rc = read_all(s, &t, err);
	size_t n = rc < 0 ? 0 : choose(&t, l, now_ns);

	assert(n == 0 || n < t.days.count);		/* the newest day stays */
	lock_take(&s->writer);
	for (size_t i = 0; rc >= 0 && i < n; i++)
		rc = drop_day(s, t.days.items[i].number, is_old(&t.days.items[i], l, now_ns) ? STORE_REMOVED_AGE : STORE_REMOVED_SIZE, err);
	if (rc >= 0 && n) {
		memmove(t.days.items, t.days.items + n, (t.days.count - n) * sizeof(*t.days.items));
		t.days.count -= n;
	}
	if (rc >= 0)
		rc = drop_names(s, &t, now_ns, err);
	lock_release(&s->writer);
	stored_done(&t);
	return rc;
}

/* Checks for tables that only queries need. */
static int check_tables(struct clickhouse_store *s, struct err *err)
{
	int rc = 0;

	for (unsigned i = 0; rc >= 0 && i < s->url.server_count; i++) {
		rc = clickhouse_check(s, i, err);
		if (rc == -ENOENT)
			rc = clickhouse_prepare(s, err);
		if (rc >= 0)
			rc = clickhouse_check_names(s, i, err);
	}
	return rc;
}

int clickhouse_maintain(struct store *store, const struct store_limits *l, int64_t now_ns, struct err *err)
{
	struct clickhouse_store *s = clickhouse_of(store);
	int rc = s->mode == CLICKHOUSE_WRITE ? clickhouse_prepare(s, err) :
		 err_set(err, -EROFS, "the store was opened for %s only", s->mode == CLICKHOUSE_READ ? "reading" : "adding runs");

	if (rc >= 0)
		rc = check_tables(s, err);
	if (rc >= 0)
		rc = clickhouse_restore_series(s, now_ns, err);
	if (rc >= 0)
		rc = retain_days(s, l, now_ns, err);
	if (rc >= 0)
		rc = clickhouse_retain_runs(s, l, now_ns, err);
	return rc < 0 ? rc : clickhouse_measure(s, err);
}
