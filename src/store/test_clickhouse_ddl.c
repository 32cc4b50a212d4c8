/* test_clickhouse_ddl.c: tests the statements for old and new servers, with and without a cluster, and the URL's
 * options for them. */
#include "buf.h"
#include "clickhouse_ddl.h"
#include "clickhouse_url.h"
#include "clock.h"
#include "mem.h"
#include "test.h"

static int note(void *data, const char *sql, struct err *err)
{
	struct buf *all = data;

	buf_puts(all, sql);
	buf_putc(all, '\n');
	return 0;
}

/* Returns all statements, one per line. The caller frees it. */
static char *statements(const struct clickhouse_form *f)
{
	struct buf all;
	char *text;

	buf_init(&all);
	CHECK_INT(clickhouse_ddl_database(f, note, &all, NULL), 0);
	CHECK_INT(clickhouse_ddl_tables(f, note, &all, NULL), 0);
	CHECK_INT(clickhouse_ddl_codecs(f, note, &all, NULL), 0);
	if (f->cluster)
		CHECK_INT(clickhouse_ddl_distributed(f, note, &all, NULL), 0);
	text = xstrdup(all.data);
	buf_done(&all);
	return text;
}

static unsigned count(const char *text, const char *word)
{
	unsigned n = 0;

	for (const char *p = text; (p = strstr(p, word)); p++)
		n++;
	return n;
}

TEST(an_old_server_gets_plain_tables)
{
	_cleanup_(freep) char *sql = statements(&(struct clickhouse_form){ .database = "d", .major = 18 });

	CHECK_INT(count(sql, "\n"), 9);
	CHECK_INT(count(sql, "CREATE DATABASE IF NOT EXISTS `d`\n"), 1);
	CHECK_INT(count(sql, "CREATE TABLE IF NOT EXISTS "), 8);
	CHECK_INT(count(sql, "CREATE TABLE IF NOT EXISTS samples (day Date, kind UInt64, stack UInt64, series UInt64, bucket UInt16, "
			"value Int64) ENGINE = MergeTree PARTITION BY day ORDER BY (kind, stack, series, bucket)\n"), 1);
	for (unsigned i = 0; i < 5; i++)
		CHECK_INT(count(sql, ((const char *[]){ "CODEC", "TTL", "CLUSTER", "Replicated", "Distributed" })[i]), 0);
}

TEST(a_newer_server_gets_codecs)
{
	_cleanup_(freep) char *sql = statements(&(struct clickhouse_form){ .database = "d", .major = 20 });

	CHECK_INT(count(sql, "CODEC("), 6);
	CHECK_INT(count(sql, "TTL"), 0);
	CHECK_INT(count(sql, "ALTER TABLE samples MODIFY COLUMN bucket UInt16 CODEC(T64, ZSTD(1))\n"), 1);
}

TEST(a_ttl_expires_samples_and_series_on_newer_servers)
{
	struct err err = { 0 };
	struct buf all;

	buf_init(&all);
	CHECK_INT(clickhouse_ddl_check_ttl(20, &err), 0);
	CHECK_INT(clickhouse_ddl_ttl(90, note, &all, NULL), 0);
	CHECK_STR(all.data, "ALTER TABLE samples MODIFY TTL day + INTERVAL 90 DAY\n"
			    "ALTER TABLE series MODIFY TTL day + INTERVAL 90 DAY\n");
	buf_done(&all);
	CHECK_INT(clickhouse_ddl_check_ttl(19, &err), -ENOTSUP);
	CHECK_STR(err.text, "ttl= in the URL of the store needs ClickHouse 20 or newer; use --retain instead");
}

TEST(a_cluster_without_replicas_gets_plain_and_distributed_tables)
{
	_cleanup_(freep) char *sql = statements(&(struct clickhouse_form){ .database = "d", .major = 18, .cluster = "c-1" });

	CHECK_INT(count(sql, "CLUSTER"), 0);
	CHECK_INT(count(sql, "Replicated"), 0);
	CHECK_INT(count(sql, "ENGINE = Distributed("), 6);
	CHECK_INT(count(sql, "CREATE TABLE IF NOT EXISTS samples_all (day Date, kind UInt64, stack UInt64, series UInt64, bucket "
			"UInt16, value Int64) ENGINE = Distributed('c-1', 'd', 'samples')\n"), 1);
	CHECK_INT(count(sql, "schema_all"), 0);
}

TEST(replicated_tables_are_created_on_the_cluster)
{
	_cleanup_(freep) char *sql = statements(&(struct clickhouse_form){ .database = "d", .major = 18, .cluster = "c-1",
									     .replicated = true });

	CHECK_INT(count(sql, "CREATE DATABASE IF NOT EXISTS `d` ON CLUSTER `c-1`\n"), 1);
	CHECK_INT(count(sql, " ON CLUSTER `c-1` ("), 8 + 6);
	CHECK_INT(count(sql, "\n"), 1 + 8 + 6);
	CHECK_INT(count(sql, "ENGINE = ReplicatedMergeTree('/clickhouse/tables/{shard}/d/samples', '{replica}') PARTITION BY day "
			"ORDER BY (kind, stack, series, bucket)\n"), 1);
	CHECK_INT(count(sql, "ENGINE = ReplicatedReplacingMergeTree('/clickhouse/tables/{shard}/d/stacks', '{replica}') "), 1);
	CHECK_INT(count(sql, "ENGINE = Replicated"), 8);
	CHECK_INT(count(sql, "ENGINE = Distributed("), 6);
}

static const char *problem_of(const char *parameters)
{
	static struct err err;
	char text[200];
	struct clickhouse_url u;

	snprintf(text, sizeof(text), "clickhouse://h/d?%s", parameters);
	CHECK_INT(clickhouse_url_parse(text, &u, &err), -EINVAL);
	clickhouse_url_done(&u);
	return err.text;
}

TEST(the_url_names_the_cluster_and_the_ttl)
{
	struct clickhouse_url u;

	CHECK_INT(clickhouse_url_parse("clickhouse://h/d?shards=a,b&cluster=c-1.x_y&ttl=90d", &u, NULL), 0);
	CHECK_STR(u.cluster, "c-1.x_y");
	CHECK_INT(u.ttl_days, 90);
	clickhouse_url_done(&u);
	CHECK_INT(clickhouse_url_parse("clickhouse://h/d?ttl=36500d", &u, NULL), 0);
	CHECK_INT(u.ttl_days, 36500);
	clickhouse_url_done(&u);
	CHECK_INT(clickhouse_url_parse("clickhouse://h/d?ttl=48h", &u, NULL), 0);
	CHECK_INT(u.ttl_days, 2);
	CHECK(!u.cluster);
	clickhouse_url_done(&u);
}

TEST(invalid_cluster_names_are_rejected_with_an_error)
{
	const char *longest = "cluster=5678901234567890123456789012345678901234567890123456789012345678901234";
	const char *bad[] = { "cluster=", "cluster=a'b", "cluster=a%27b", "cluster=a%60b", "cluster=a%5Cb", "cluster=a%20b", "cluster=\xc3\xa4", longest };
	struct clickhouse_url u;

	for (size_t i = 0; i < ARRAY_SIZE(bad); i++)
		CHECK_STR(problem_of(bad[i]), "cluster= is not a name of up to 64 letters, digits, '_', '-' and '.'; use a URL such as "
					      "clickhouse://host:8123/strobe");
	CHECK_INT(clickhouse_url_parse("clickhouse://h/d?cluster=0123456789012345678901234567890123456789012345678901234567890123", &u, NULL), 0);
	clickhouse_url_done(&u);
}

TEST(invalid_ttls_are_rejected_with_an_error)
{
	const char *bad[] = { "ttl=", "ttl=0", "ttl=0d", "ttl=2h", "ttl=36h", "ttl=1.5d", "ttl=-1d", "ttl=36501d", "ttl=9999999999999d",
			      "ttl=90", "ttl=90d)", "ttl=ninety" };

	for (size_t i = 0; i < ARRAY_SIZE(bad); i++)
		CHECK_STR(problem_of(bad[i]), "ttl= is not a whole number of days from 1d to 36500d; use a URL such as "
					      "clickhouse://host:8123/strobe");
}

TEST_MAIN()
