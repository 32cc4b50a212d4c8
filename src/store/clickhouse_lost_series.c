/* clickhouse_lost_series.c: finds days that have lost their labels by their partitions, which reads no data.
 *
 * Most series are on several servers, since a series has many stacks, each on one server. */
#include "clickhouse_lost_series.h"
#include "clickhouse_ask.h"
#include "clickhouse_known.h"
#include "clickhouse_wire.h"
#include "clock.h"
#include "log.h"
#include "mem.h"
#include <assert.h>

#define AGAIN_NS	(60 * 60 * NS_PER_SECOND)
#define PARTS_OF(table)	"FROM system.parts WHERE active AND rows > 0 AND database = currentDatabase() AND table = '" table "'"

static int copy_series(struct clickhouse_store *s, unsigned from, unsigned to, uint32_t day, struct err *err)
{
	_cleanup_(freep) char *sql = xasprintf("SELECT DISTINCT day, series, keys, vals FROM series WHERE day = toDate(%u) FORMAT RowBinary",
					       day);
	_cleanup_(buf_done) struct buf rows = { 0 };
	struct clickhouse_request insert = { .sql = "INSERT INTO series FORMAT RowBinary", .rows = &rows, .writes = true };
	int rc;

	assert(from != to && from < s->url.server_count);
	buf_init(&rows);
	rc = clickhouse_ask(s, from, &(struct clickhouse_request){ .sql = sql }, &rows, err);
	return rc < 0 || !rows.size ? rc : clickhouse_ask(s, to, &insert, NULL, err);
}

static int count_unlabeled(struct clickhouse_store *s, unsigned shard, uint32_t day, uint64_t *ret, struct err *err)
{
	_cleanup_(freep) char *sql = xasprintf("SELECT count() FROM samples WHERE kind > 0 AND day = toDate(%u) AND series NOT IN"
					       " (SELECT series FROM series WHERE day = toDate(%u))",
					       day, day);

	return clickhouse_ask_number(s, shard, sql, ret, err);
}

/* A set of days, for one log message. */
struct lost_days {
	uint32_t first, last;		/* days since 1970 */
	unsigned count;
	uint64_t rows;			/* rows of samples without labels */
};

static void add_day(struct lost_days *l, uint32_t day, uint64_t rows)
{
	l->first = !l->count || day < l->first ? day : l->first;
	l->last = day > l->last ? day : l->last;
	l->count++;
	l->rows += rows;
}

/* Formats "its rows of 2026-06-10", or "its rows of 364 days from 2025-11-30 to 2026-11-28". */
static void put_days(const struct lost_days *l, char *ret, size_t size)
{
	char first[24], last[24];

	clock_format(l->first * NS_PER_DAY, first, sizeof(first));
	clock_format(l->last * NS_PER_DAY, last, sizeof(last));
	if (l->count == 1)
		snprintf(ret, size, "its rows of %.10s", first);
	else
		snprintf(ret, size, "its rows of %u days from %.10s to %.10s", l->count, first, last);
}

static void report(const char *server, const struct lost_days *lost, const struct lost_days *restored)
{
	char days[96];

	if (lost->count) {
		put_days(lost, days, sizeof(days));
		log_warning("ClickHouse at %s has lost %s in the table 'series': %llu rows of samples have no labels, and queries by"
			    " label leave them out; no other server has them",
			    server, days, (unsigned long long)lost->rows);
	}
	if (restored->count) {
		put_days(restored, days, sizeof(days));
		log_warning("ClickHouse at %s had lost %s in the table 'series'; they were copied from the other servers", server, days);
	}
}

static int restore_day(struct clickhouse_store *s, unsigned shard, uint32_t day, struct lost_days *lost, struct lost_days *restored,
		       struct err *err)
{
	uint64_t before, left;
	int rc = count_unlabeled(s, shard, day, &before, err);

	if (rc < 0 || !before)
		return rc;
	for (unsigned i = 0; rc >= 0 && i < s->url.server_count; i++)
		if (i != shard)
			rc = copy_series(s, i, shard, day, err);
	if (rc >= 0)
		rc = count_unlabeled(s, shard, day, &left, err);
	if (rc >= 0)
		add_day(left ? lost : restored, day, left);
	return rc;
}

static int restore_on(struct clickhouse_store *s, unsigned shard, uint64_t *ret_left, struct err *err)
{
	struct clickhouse_request ask = {
		.sql = "SELECT toUInt32(toDate(partition)) AS day " PARTS_OF("samples") " AND partition NOT IN (SELECT partition " PARTS_OF("series") ") GROUP BY day FORMAT RowBinary",
	};
	_cleanup_(buf_done) struct buf days = { 0 };
	struct lost_days lost = { 0 }, restored = { 0 };
	struct row_reader r;
	int rc;

	buf_init(&days);
	rc = clickhouse_ask(s, shard, &ask, &days, err);
	if (rc < 0 || !days.size)
		return rc;
	lock_take(&s->writer);
	clickhouse_known_forget(s->known);
	lock_release(&s->writer);
	for (r = row_reader_of(&days); rc >= 0 && row_more(&r);)
		rc = restore_day(s, shard, (uint32_t)row_get(&r, 4), &lost, &restored, err);
	report(s->url.servers[shard].name, &lost, &restored);
	*ret_left += lost.rows;
	return rc;
}

int clickhouse_restore_series(struct clickhouse_store *s, int64_t now_ns, struct err *err)
{
	uint64_t left = 0;
	int rc = 0;

	if (now_ns < s->next_restore_ns)
		return 0;
	for (unsigned i = 0; rc >= 0 && i < s->url.server_count; i++)
		rc = restore_on(s, i, &left, err);
	s->next_restore_ns = left ? now_ns + AGAIN_NS : 0;
	return rc;
}
