/* clickhouse_lost_series.c: finds days that have lost their labels by their partitions, which reads no data.
 *
 * Most series are on several servers, as a series has many stacks and each of them is on one server. */
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

static int count_unlabelled(struct clickhouse_store *s, unsigned shard, uint32_t day, uint64_t *ret, struct err *err)
{
	_cleanup_(freep) char *sql = xasprintf("SELECT count() FROM samples WHERE kind > 0 AND day = toDate(%u) AND series NOT IN"
					       " (SELECT series FROM series WHERE day = toDate(%u))",
					       day, day);

	return clickhouse_ask_number(s, shard, sql, ret, err);
}

static int restore_day(struct clickhouse_store *s, unsigned shard, uint32_t day, uint64_t *ret_left, struct err *err)
{
	const char *server = s->url.servers[shard].name;
	uint64_t before, left;
	char date[24];
	int rc = count_unlabelled(s, shard, day, &before, err);

	if (rc < 0 || !before)
		return rc;
	for (unsigned i = 0; rc >= 0 && i < s->url.server_count; i++)
		if (i != shard)
			rc = copy_series(s, i, shard, day, err);
	if (rc >= 0)
		rc = count_unlabelled(s, shard, day, &left, err);
	if (rc < 0)
		return rc;
	clock_format(day * NS_PER_DAY, date, sizeof(date));
	if (left)
		log_warning("ClickHouse at %s has lost its rows of %.10s in the table 'series': %llu rows of samples have no labels, and queries by"
			    " label leave them out; no other server has them",
			    server, date, (unsigned long long)left);
	else
		log_warning("ClickHouse at %s had lost its rows of %.10s in the table 'series'; they were copied from the other servers",
			    server, date);
	*ret_left += left;
	return 0;
}

static int restore_on(struct clickhouse_store *s, unsigned shard, uint64_t *ret_left, struct err *err)
{
	struct clickhouse_request ask = {
		.sql = "SELECT toUInt32(toDate(partition)) AS day " PARTS_OF("samples") " AND partition NOT IN (SELECT partition " PARTS_OF("series") ") GROUP BY day FORMAT RowBinary",
	};
	_cleanup_(buf_done) struct buf days = { 0 };
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
		rc = restore_day(s, shard, (uint32_t)row_get(&r, 4), ret_left, err);
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
