/* clickhouse_cluster.c: compares the URL with system.clusters and system.replicas. */
#include "clickhouse_cluster.h"
#include "clickhouse_ask.h"
#include "clickhouse_wire.h"
#include "clock.h"
#include "mem.h"
#include <assert.h>
#include <string.h>
#include <sys/random.h>

/* The cluster as one server reports it. */
struct seen {
	uint64_t shards;
	uint64_t own;				/* its own shard, from 1; 0: the server does not recognize itself */
	uint64_t most_replicas;
};

static int ask_cluster(struct clickhouse_store *s, unsigned shard, struct seen *ret, struct err *err)
{
	_cleanup_(freep) char *sql = xasprintf("SELECT toUInt64(uniq(shard_num)), toUInt64(maxIf(shard_num, is_local)), "
					       "toUInt64(max(replica_num)) FROM system.clusters WHERE cluster = '%s' FORMAT RowBinary",
					       s->url.cluster);
	_cleanup_(buf_done) struct buf answer = { 0 };
	struct row_reader r;
	int rc;

	buf_init(&answer);
	rc = clickhouse_ask(s, shard, &(struct clickhouse_request){ .sql = sql, .anywhere = true }, &answer, err);
	if (rc < 0)
		return rc;
	r = row_reader_of(&answer);
	ret->shards = row_get(&r, 8);
	ret->own = row_get(&r, 8);
	ret->most_replicas = row_get(&r, 8);
	return 0;
}

/* Returns -ENOTSUP rather than -EINVAL, which would drop a batch because the server restarted with another
 * configuration. */
static int check_shards(const struct clickhouse_store *s, unsigned shard, const struct seen *seen, struct err *err)
{
	const char *server = s->url.servers[shard].name, *cluster = s->url.cluster;

	if (!seen->shards)
		return err_set(err, -ENOTSUP, "ClickHouse at %s has no cluster '%s' in its remote_servers", server, cluster);
	if (seen->shards != s->url.server_count)
		return err_set(err, -ENOTSUP, "the cluster '%s' has %llu shards at %s, but the URL of the store lists %u; list one "
			       "replica of each shard in shards=", cluster, (unsigned long long)seen->shards, server,
			       s->url.server_count);
	/* Behind a proxy, a server may not recognize itself. */
	if (seen->own && seen->own != shard + 1)
		return err_set(err, -ENOTSUP, "%s is shard %llu of the cluster '%s', but shard %u in the URL of the store; list one "
			       "replica of each shard, in the cluster's order", server, (unsigned long long)seen->own, cluster,
			       shard + 1);
	return 0;
}

int clickhouse_check_cluster(struct clickhouse_store *s, unsigned shard, bool *ret_replicated, struct err *err)
{
	struct seen seen = { 0 };
	int rc = s->url.cluster ? ask_cluster(s, shard, &seen, err) : 0;

	*ret_replicated = rc >= 0 && seen.most_replicas > 1;
	return rc < 0 || !s->url.cluster ? rc : check_shards(s, shard, &seen, err);
}

/* Finds the ZooKeeper path of the replica if the server has parts to verify; otherwise `ret` stays empty. */
static int find_unchecked_replica(struct clickhouse_store *s, unsigned shard, const char *table, struct buf *ret, struct err *err)
{
	_cleanup_(freep) char *sql = xasprintf("SELECT replica_path FROM system.replicas WHERE database = currentDatabase() AND table = '%s'"
					       " AND parts_to_check > 0 FORMAT RowBinary", table);

	return clickhouse_ask(s, shard, &(struct clickhouse_request){ .sql = sql }, ret, err);
}

static int count_uncommitted(struct clickhouse_store *s, unsigned shard, const char *table, struct str path, uint64_t *ret,
			     struct err *err)
{
	_cleanup_(freep) char *parts = xasprintf("%.*s/parts", (int)path.n, path.p);
	_cleanup_(buf_done) struct buf sql = { 0 };

	buf_init(&sql);
	buf_printf(&sql, "SELECT count() FROM system.parts WHERE active AND database = currentDatabase() AND table = '%s' AND name NOT IN"
		   " (SELECT name FROM system.zookeeper WHERE path = ", table);
	sql_put_string(&sql, (struct str){ parts, strlen(parts) });
	buf_puts(&sql, ")");
	return clickhouse_ask_number(s, shard, sql.data, ret, err);
}

int clickhouse_check_committed(struct clickhouse_store *s, unsigned shard, const char *table, struct err *err)
{
	_cleanup_(buf_done) struct buf doubt = { 0 };
	struct row_reader r;
	uint64_t parts = 0;
	int rc;

	buf_init(&doubt);
	rc = clickhouse_is_replicated(s) ? find_unchecked_replica(s, shard, table, &doubt, err) : 0;
	if (rc < 0 || !doubt.size)
		return rc;
	r = row_reader_of(&doubt);
	rc = count_uncommitted(s, shard, table, row_get_string(&r), &parts, err);
	if (rc < 0 || !parts)
		return rc;
	return err_set(err, -EAGAIN, "ZooKeeper does not have the last insert into '%s' at %s; it is repeated when the server has discarded "
		       "it, which SYSTEM RESTART REPLICA makes it do", table, s->url.servers[shard].name);
}

static int ask_path(struct clickhouse_store *s, unsigned shard, struct buf *ret, struct err *err)
{
	return clickhouse_ask(s, shard, &(struct clickhouse_request){
		.sql = "SELECT zookeeper_path FROM system.replicas WHERE database = currentDatabase() AND table = 'samples'" }, ret, err);
}

int clickhouse_check_paths(struct clickhouse_store *s, struct err *err)
{
	struct buf paths[CLICKHOUSE_SHARDS];
	unsigned count = s->url.server_count;
	int rc = 0;

	assert(count <= CLICKHOUSE_SHARDS);
	for (unsigned i = 0; i < count; i++)
		buf_init(&paths[i]);
	for (unsigned i = 0; rc >= 0 && i < count; i++) {
		rc = ask_path(s, i, &paths[i], err);
		if (rc >= 0 && !paths[i].size)
			rc = err_set(err, -ENOTSUP, "the cluster '%s' has replicas, but the tables of database '%s' at %s are not Replicated; "
				     "use another database", s->url.cluster, s->url.database, s->url.servers[i].name);
		for (unsigned k = 0; rc >= 0 && k < i; k++)
			if (!strcmp(paths[k].data, paths[i].data))
				rc = err_set(err, -ENOTSUP, "%s and %s have the same path in ZooKeeper, %.*s; each shard needs its own "
					     "macro {shard}", s->url.servers[k].name, s->url.servers[i].name,
					     (int)paths[i].size - 1, paths[i].data);
	}
	for (unsigned i = 0; i < count; i++)
		buf_done(&paths[i]);
	return rc;
}

/* Creates a temporary table on each server; it exists only in the session of that server, and disappears with it. */
int clickhouse_check_servers(struct clickhouse_store *s, struct err *err)
{
	_cleanup_(freep) char *session = NULL;
	struct clickhouse_request r = { .sql = "CREATE TEMPORARY TABLE strobe_shard (n UInt8)", .writes = true, .anywhere = true, .within_ns = 5 * NS_PER_SECOND };
	uint64_t number;

	assert(s->url.server_count > 0 && s->url.server_count <= CLICKHOUSE_SHARDS);
	if (s->url.server_count == 1 || getrandom(&number, sizeof(number), 0) != sizeof(number))
		return 0;
	r.session = session = xasprintf("strobe-%016llx", (unsigned long long)number);
	for (unsigned i = 0; i < s->url.server_count; i++) {
		struct err why;

		/* A server that is down or forbids that table is skipped. */
		if (clickhouse_ask(s, i, &r, NULL, &why) == -EEXIST)
			return err_set(err, -ENOTSUP, "shards= has one server twice: %s is one of those before it; remove it",
				       s->url.servers[i].name);
	}
	return 0;
}
