/* clickhouse_schema.c: creates the tables, with types that ClickHouse 18.16 has. */
#include "clickhouse_schema.h"
#include "buf.h"
#include "clickhouse_ask.h"
#include "mem.h"
#include <assert.h>

#define CODECS_SINCE	20u		/* the first version whose ALTER takes codecs without a setting */

/* `stack` stands before the time in the order of samples: its 8 random bytes then take 0.2 bytes per sample. */
static const char *const tables[] = {
	"CREATE TABLE IF NOT EXISTS schema (version UInt32) ENGINE = ReplacingMergeTree ORDER BY version",

	"CREATE TABLE IF NOT EXISTS samples (day Date, kind UInt64, stack UInt64, series UInt64, bucket UInt16, value Int64)"
	" ENGINE = MergeTree PARTITION BY day ORDER BY (kind, stack, series, bucket)",

	"CREATE TABLE IF NOT EXISTS kinds (kind UInt64, clock UInt8, period_ns Int64, position UInt8, name String,"
	" unit String, timed UInt8) ENGINE = ReplacingMergeTree ORDER BY kind",

	"CREATE TABLE IF NOT EXISTS series (day Date, series UInt64, keys Array(String), vals Array(String))"
	" ENGINE = ReplacingMergeTree PARTITION BY day ORDER BY series",

	"CREATE TABLE IF NOT EXISTS stacks (month UInt32, stack UInt64, proof UInt64, base UInt64, frames Array(UInt64),"
	" lines Array(UInt32)) ENGINE = ReplacingMergeTree PARTITION BY month ORDER BY (stack, proof)",

	"CREATE TABLE IF NOT EXISTS frames (month UInt32, frame UInt64, proof UInt64, name String, file String, line UInt32)"
	" ENGINE = ReplacingMergeTree PARTITION BY month ORDER BY (frame, proof)",

	"CREATE TABLE IF NOT EXISTS runs (month UInt32, source String, id String, seq UInt64, token UInt64, digest String,"
	" start_ns Int64, duration_ns Int64, stored_ns Int64, has UInt8, url String, name String, title String,"
	" keys Array(String), vals Array(String), totals String, nodes UInt32, bytes UInt64, wall_ns Int64, cpu_ns Int64,"
	" memory_bytes Int64, peak_memory_bytes Int64, calls Int64, data String)"
	" ENGINE = MergeTree PARTITION BY month ORDER BY (source, id, seq) SETTINGS index_granularity = 16",

	"CREATE TABLE IF NOT EXISTS runs_removed (month UInt32, seq UInt64)"
	" ENGINE = ReplacingMergeTree PARTITION BY month ORDER BY seq",
};

static const char *const codecs[] = {
	"ALTER TABLE samples MODIFY COLUMN bucket UInt16 CODEC(T64, ZSTD(1))",
	"ALTER TABLE samples MODIFY COLUMN stack UInt64 CODEC(ZSTD(1))",
	"ALTER TABLE samples MODIFY COLUMN series UInt64 CODEC(ZSTD(1))",
	"ALTER TABLE stacks MODIFY COLUMN frames Array(UInt64) CODEC(ZSTD(3))",
	"ALTER TABLE frames MODIFY COLUMN name String CODEC(ZSTD(3))",
	"ALTER TABLE frames MODIFY COLUMN file String CODEC(ZSTD(3))",
};

/* The database that requests name must exist before one can name it. */
static int create_database(struct clickhouse_store *s, unsigned shard, struct err *err)
{
	_cleanup_(freep) char *sql = xasprintf("CREATE DATABASE IF NOT EXISTS `%s`", s->url.database);

	return clickhouse_ask(s, shard, &(struct clickhouse_request){ .sql = sql, .writes = true, .anywhere = true }, NULL,
			      err);
}

static int check_version(struct clickhouse_store *s, unsigned shard, struct err *err)
{
	uint64_t version;
	int rc = clickhouse_ask_number(s, shard, "SELECT max(version) FROM schema", &version, err);

	if (rc < 0)
		return rc;
	if (version > CLICKHOUSE_SCHEMA)
		return err_set(err, -ENOTSUP, "the database '%s' at %s has schema %llu of a newer Strobe, and this one knows %u",
			       s->url.database, s->url.servers[shard].name, (unsigned long long)version, CLICKHOUSE_SCHEMA);
	if (version < 1)
		return err_set(err, -ENOENT, "the tables of database '%s' at %s are not complete; a daemon with --store of this "
			       "URL completes them", s->url.database, s->url.servers[shard].name);
	return 0;
}

int clickhouse_check(struct clickhouse_store *s, unsigned shard, struct err *err)
{
	return check_version(s, shard, err);
}

static int set_codecs(struct clickhouse_store *s, unsigned shard, struct err *err)
{
	uint64_t major;
	int rc = clickhouse_ask_number(s, shard, "SELECT splitByChar('.', version())[1]", &major, err);

	for (size_t i = 0; rc >= 0 && major >= CODECS_SINCE && i < ARRAY_SIZE(codecs); i++)
		rc = clickhouse_run(s, shard, codecs[i], err);
	return rc;
}

/* The version comes last: tables without it are completed by whoever opens them next. */
int clickhouse_create(struct clickhouse_store *s, unsigned shard, struct err *err)
{
	struct err why = { 0 };
	int rc = check_version(s, shard, &why);

	assert(s->mode != CLICKHOUSE_READ);
	if (rc >= 0)
		return 0;
	if (rc != -ENOENT)
		return err_set(err, rc, "%s", why.text);
	rc = create_database(s, shard, err);
	for (size_t i = 0; rc >= 0 && i < ARRAY_SIZE(tables); i++)
		rc = clickhouse_run(s, shard, tables[i], err);
	if (rc >= 0)
		rc = set_codecs(s, shard, err);
	return rc < 0 ? rc : clickhouse_run(s, shard, "INSERT INTO schema VALUES (1)", err);
}
