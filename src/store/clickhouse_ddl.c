/* clickhouse_ddl.c: creates the tables, with types that ClickHouse 18.16 supports. */
#include "clickhouse_ddl.h"
#include "buf.h"
#include "mem.h"
#include <assert.h>

#define CODECS_SINCE	20u		/* the first version whose ALTER accepts codecs and a TTL without a setting */

/* `stack` precedes the time in the sort order of samples: its 8 random bytes then take 0.2 bytes per sample. */
static const struct table {
	const char *name, *columns, *engine, *rest;
	bool is_read;				/* queried by users' SQL */
} tables[] = {
	{ "schema",
	  "version UInt32",
	  "ReplacingMergeTree", "ORDER BY version", false },
	{ "samples",
	  "day Date, kind UInt64, stack UInt64, series UInt64, bucket UInt16, value Int64",
	  "MergeTree", "PARTITION BY day ORDER BY (kind, stack, series, bucket)", true },
	{ "kinds",
	  "kind UInt64, clock UInt8, period_ns Int64, position UInt8, name String, unit String, timed UInt8",
	  "ReplacingMergeTree", "ORDER BY kind", true },
	{ "series",
	  "day Date, series UInt64, keys Array(String), vals Array(String)",
	  "ReplacingMergeTree", "PARTITION BY day ORDER BY series", true },
	{ "stacks",
	  "month UInt32, stack UInt64, proof UInt64, base UInt64, frames Array(UInt64), lines Array(UInt32)",
	  "ReplacingMergeTree", "PARTITION BY month ORDER BY (stack, proof)", true },
	{ "frames",
	  "month UInt32, frame UInt64, proof UInt64, name String, file String, line UInt32",
	  "ReplacingMergeTree", "PARTITION BY month ORDER BY (frame, proof)", true },
	{ "runs",
	  "month UInt32, source String, id String, seq UInt64, token UInt64, digest String, start_ns Int64, "
	  "duration_ns Int64, stored_ns Int64, has UInt8, url String, name String, title String, keys "
	  "Array(String), vals Array(String), totals String, nodes UInt32, bytes UInt64, wall_ns Int64, "
	  "cpu_ns Int64, memory_bytes Int64, peak_memory_bytes Int64, calls Int64, data String",
	  "MergeTree", "PARTITION BY month ORDER BY (source, id, seq) SETTINGS index_granularity = 16", true },
	{ "runs_removed",
	  "month UInt32, seq UInt64",
	  "ReplacingMergeTree", "PARTITION BY month ORDER BY seq", false },
};

char *clickhouse_ddl_names(void)
{
	struct buf b;

	buf_init(&b);
	for (size_t i = 0; i < ARRAY_SIZE(tables); i++)
		buf_printf(&b, "%s'%s'", i ? ", " : "", tables[i].name);
	return buf_take(&b, NULL);
}

static const char *const codecs[] = {
	"ALTER TABLE samples MODIFY COLUMN bucket UInt16 CODEC(T64, ZSTD(1))",
	"ALTER TABLE samples MODIFY COLUMN stack UInt64 CODEC(ZSTD(1))",
	"ALTER TABLE samples MODIFY COLUMN series UInt64 CODEC(ZSTD(1))",
	"ALTER TABLE stacks MODIFY COLUMN frames Array(UInt64) CODEC(ZSTD(3))",
	"ALTER TABLE frames MODIFY COLUMN name String CODEC(ZSTD(3))",
	"ALTER TABLE frames MODIFY COLUMN file String CODEC(ZSTD(3))",
};

static const char *const expiring[] = { "samples", "series" };	/* by day; names stay until the daemon drops their month */

static int run_text(clickhouse_run_ddl *run, void *data, char *sql, struct err *err)
{
	int rc = run(data, sql, err);

	free(sql);
	return rc;
}

/* Only with replicas: this creates the tables of those that we do not insert into. */
static char *on_cluster(const struct clickhouse_form *f)
{
	assert(f->cluster || !f->replicated);
	return f->replicated ? xasprintf(" ON CLUSTER `%s`", f->cluster) : xstrdup("");
}

int clickhouse_ddl_database(const struct clickhouse_form *f, clickhouse_run_ddl *run, void *data, struct err *err)
{
	_cleanup_(freep) char *where = on_cluster(f);

	return run_text(run, data, xasprintf("CREATE DATABASE IF NOT EXISTS `%s`%s", f->database, where), err);
}

/* Returns "MergeTree", or its replicated form with the path in ZooKeeper. */
static char *engine(const struct clickhouse_form *f, const struct table *t)
{
	return f->replicated ? xasprintf("Replicated%s('/clickhouse/tables/{shard}/%s/%s', '{replica}')", t->engine, f->database, t->name)
			     : xstrdup(t->engine);
}

static int create_table(const struct clickhouse_form *f, const struct table *t, clickhouse_run_ddl *run, void *data,
			struct err *err)
{
	_cleanup_(freep) char *where = on_cluster(f), *with = engine(f, t);

	return run_text(run, data, xasprintf("CREATE TABLE IF NOT EXISTS %s%s (%s) ENGINE = %s %s", t->name, where, t->columns, with,
					     t->rest), err);
}

int clickhouse_ddl_tables(const struct clickhouse_form *f, clickhouse_run_ddl *run, void *data, struct err *err)
{
	int rc = 0;

	assert(ARRAY_SIZE(tables) == CLICKHOUSE_TABLES);
	for (size_t i = 0; rc >= 0 && i < ARRAY_SIZE(tables); i++)
		rc = create_table(f, &tables[i], run, data, err);
	return rc;
}

int clickhouse_ddl_codecs(const struct clickhouse_form *f, clickhouse_run_ddl *run, void *data, struct err *err)
{
	int rc = 0;

	for (size_t i = 0; rc >= 0 && f->major >= CODECS_SINCE && i < ARRAY_SIZE(codecs); i++)
		rc = run(data, codecs[i], err);
	return rc;
}

int clickhouse_ddl_distributed(const struct clickhouse_form *f, clickhouse_run_ddl *run, void *data, struct err *err)
{
	_cleanup_(freep) char *where = on_cluster(f);
	int rc = 0;

	assert(f->cluster);
	for (size_t i = 0; rc >= 0 && i < ARRAY_SIZE(tables); i++)
		if (tables[i].is_read)
			rc = run_text(run, data, xasprintf("CREATE TABLE IF NOT EXISTS %s_all%s (%s) ENGINE = Distributed('%s', '%s', '%s')",
							   tables[i].name, where, tables[i].columns, f->cluster, f->database,
							   tables[i].name), err);
	return rc;
}

int clickhouse_ddl_check_ttl(uint64_t major, struct err *err)
{
	if (major >= CODECS_SINCE)
		return 0;
	return err_set(err, -ENOTSUP, "ttl= in the URL of the store needs ClickHouse %u or newer; use --retain instead", CODECS_SINCE);
}

int clickhouse_ddl_ttl(uint32_t days, clickhouse_run_ddl *run, void *data, struct err *err)
{
	int rc = 0;

	assert(days > 0);
	for (size_t i = 0; rc >= 0 && i < ARRAY_SIZE(expiring); i++)
		rc = run_text(run, data, xasprintf("ALTER TABLE %s MODIFY TTL day + INTERVAL %u DAY", expiring[i], days), err);
	return rc;
}
