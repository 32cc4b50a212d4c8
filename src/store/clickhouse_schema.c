/* clickhouse_schema.c: creates what is missing on each shard. */
#include "clickhouse_schema.h"
#include "buf.h"
#include "clickhouse_ask.h"
#include "clickhouse_cluster.h"
#include "clickhouse_ddl.h"
#include "clickhouse_known.h"
#include "mem.h"
#include <assert.h>
#include <stdlib.h>

#define START_JITTER_S	2			/* a server's start time is the difference of two whole seconds */

struct one {
	struct clickhouse_store *store;
	unsigned shard;
	bool anywhere;				/* does not depend on the database, which may not exist yet */
};

static int run_one(void *data, const char *sql, struct err *err)
{
	const struct one *o = data;

	return clickhouse_ask(o->store, o->shard, &(struct clickhouse_request){ .sql = sql, .writes = true, .anywhere = o->anywhere },
			      NULL, err);
}

int clickhouse_check_version(struct clickhouse_store *s, unsigned shard, int64_t within_ns, struct err *err)
{
	_cleanup_(buf_done) struct buf answer = { 0 };
	struct clickhouse_request r = { .sql = "SELECT max(version) FROM schema", .is_number = true, .within_ns = within_ns };
	uint64_t version;
	int rc;

	buf_init(&answer);
	rc = clickhouse_ask(s, shard, &r, &answer, err);
	if (rc < 0)
		return rc;
	version = strtoull(answer.data, NULL, 10);
	if (version > CLICKHOUSE_SCHEMA)
		return err_set(err, -ENOTSUP, "the database '%s' at %s has schema %llu of a newer Strobe, and this one knows %u",
			       s->url.database, s->url.servers[shard].name, (unsigned long long)version, CLICKHOUSE_SCHEMA);
	if (version < 1)
		return err_set(err, -ENOENT, "the tables of database '%s' at %s are incomplete; start a daemon "
					     "with this URL as --store to "
					     "create the others", s->url.database, s->url.servers[shard].name);
	return 0;
}

int clickhouse_check(struct clickhouse_store *s, unsigned shard, struct err *err)
{
	bool replicated;
	int rc = clickhouse_check_cluster(s, shard, &replicated, err);

	return rc < 0 ? rc : clickhouse_check_version(s, shard, 0, err);
}

static int read_start(struct clickhouse_store *s, unsigned shard, int64_t *ret, struct err *err)
{
	uint64_t started;
	int rc = clickhouse_ask_number(s, shard, "SELECT toUInt64(toUInt32(now())) - toUInt64(uptime())", &started, err);

	*ret = rc < 0 ? 0 : (int64_t)started;
	return rc;
}

int clickhouse_check_names(struct clickhouse_store *s, unsigned shard, struct err *err)
{
	int64_t started_s;
	uint64_t made;
	int rc = clickhouse_ask_number(s, shard, "SELECT sum(toUInt64(metadata_modification_time)) FROM system.tables"
						 " WHERE database = currentDatabase() AND name IN ('kinds', 'series', 'stacks', 'frames')",
				       &made, err);

	if (rc >= 0)
		rc = read_start(s, shard, &started_s, err);
	if (rc < 0)
		return rc;
	lock_take(&s->writer);
	if ((s->names_made[shard] && s->names_made[shard] != made) ||
	    (s->started_s[shard] && llabs(s->started_s[shard] - started_s) > START_JITTER_S))
		clickhouse_known_forget(s->known);
	s->names_made[shard] = made;
	s->started_s[shard] = started_s;
	lock_release(&s->writer);
	return 0;
}

/* The number of tables. */
static int count_tables(struct one *o, const char *condition, uint64_t *ret, struct err *err)
{
	_cleanup_(freep) char *sql = xasprintf("SELECT count() FROM system.tables WHERE database = currentDatabase() AND %s", condition);

	return clickhouse_ask_number(o->store, o->shard, sql, ret, err);
}

/* --- Options of the URL, at each start --- */

/* Creating a table requires all replicas, but starting with an existing one does not. */
static int create_distributed(struct one *o, const struct clickhouse_form *f, struct err *err)
{
	uint64_t count = 0;
	int rc = f->cluster ? count_tables(o, "engine = 'Distributed' AND name LIKE '%\\_all'", &count, err) : 0;

	return rc < 0 || !f->cluster || count >= CLICKHOUSE_DISTRIBUTED ? rc : clickhouse_ddl_distributed(f, run_one, o, err);
}

/* Setting it makes the server check all parts, so it is set only if it differs. */
static int set_ttl(struct one *o, struct err *err)
{
	uint32_t days = o->store->url.ttl_days;
	_cleanup_(freep) char *same = xasprintf("name IN ('samples', 'series') AND position(engine_full, 'toIntervalDay(%u)') > 0", days);
	uint64_t count = 0;
	int rc = days ? count_tables(o, same, &count, err) : 0;

	return rc < 0 || !days || count == 2 ? rc : clickhouse_ddl_ttl(days, run_one, o, err);
}

/* --- Creating --- */

/* With replicas, the first shard creates the tables on all servers. */
static int create_tables(struct one *o, const struct clickhouse_form *f, struct err *err)
{
	uint64_t count = 0;
	int rc = f->replicated ? count_tables(o, "engine LIKE 'Replicated%'", &count, err) : 0;

	return rc < 0 || count >= CLICKHOUSE_TABLES ? rc : clickhouse_ddl_tables(f, run_one, o, err);
}

static int create(struct one *o, struct clickhouse_form *f, struct err *err)
{
	int rc;

	o->anywhere = true;
	rc = clickhouse_ddl_database(f, run_one, o, err);
	o->anywhere = false;
	if (rc >= 0)
		rc = create_tables(o, f, err);
	if (rc >= 0)
		rc = clickhouse_ddl_codecs(f, run_one, o, err);
	/* The version comes last: a schema without it is completed by the next process that opens the store. */
	return rc < 0 ? rc : run_one(o, "INSERT INTO schema VALUES (1)", err);
}

/* Also handles a single dropped table. */
static int create_missing(struct one *o, struct clickhouse_form *f, struct err *err)
{
	_cleanup_(freep) char *names = clickhouse_ddl_names(), *ours = xasprintf("name IN (%s)", names);
	struct err why = { 0 };
	uint64_t count;
	int rc = clickhouse_check_version(o->store, o->shard, 0, &why);

	if (rc < 0 && rc != -ENOENT)
		return err_set(err, rc, "%s", why.text);
	if (rc < 0)
		return create(o, f, err);
	rc = count_tables(o, ours, &count, err);
	return rc < 0 || count >= CLICKHOUSE_TABLES ? rc : create(o, f, err);
}

static int ask_version(struct one *o, uint64_t *ret_major, struct err *err)
{
	_cleanup_(buf_done) struct buf answer = { 0 };
	struct clickhouse_request r = { .sql = "SELECT splitByChar('.', version())[1]", .is_number = true, .anywhere = true };
	int rc;

	buf_init(&answer);
	rc = clickhouse_ask(o->store, o->shard, &r, &answer, err);
	*ret_major = rc < 0 ? 0 : strtoull(answer.data, NULL, 10);
	return rc;
}

static int create_at(struct one *o, struct clickhouse_form *f, struct err *err)
{
	bool replicated;
	int rc = clickhouse_check_cluster(o->store, o->shard, &replicated, err);

	f->replicated |= replicated;
	if (rc >= 0)
		rc = ask_version(o, &f->major, err);
	if (rc >= 0 && o->store->url.ttl_days)
		rc = clickhouse_ddl_check_ttl(f->major, err);
	return rc < 0 ? rc : create_missing(o, f, err);
}

/* Adds options to tables that may have been created with another URL. */
static int add_to(struct one *o, const struct clickhouse_form *f, struct err *err)
{
	int rc = create_distributed(o, f, err);

	return rc < 0 ? rc : set_ttl(o, err);
}

int clickhouse_create(struct clickhouse_store *s, bool *ret_replicated, struct err *err)
{
	struct clickhouse_form f = { .database = s->url.database, .cluster = s->url.cluster };
	unsigned count = s->url.server_count;
	int rc;

	assert(s->mode != CLICKHOUSE_READ);
	rc = clickhouse_check_servers(s, err);
	for (unsigned i = 0; rc >= 0 && i < count; i++)
		rc = create_at(&(struct one){ .store = s, .shard = i }, &f, err);
	if (rc >= 0 && f.replicated)
		rc = clickhouse_check_paths(s, err);
	for (unsigned i = 0; rc >= 0 && i < count; i++)
		rc = add_to(&(struct one){ .store = s, .shard = i }, &f, err);
	*ret_replicated = f.replicated;
	return rc;
}
