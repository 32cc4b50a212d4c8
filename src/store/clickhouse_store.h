/* clickhouse_store.h: a store in one database of a ClickHouse, or in the same database of several, its shards.
 *
 * Each shard has all data that its samples refer to, so shards are queried separately and the results are merged
 * here: the servers need no connections to each other. Several daemons may write and read at the same time; they
 * share nothing but the database. docs/clickhouse.md describes tables, queries and guarantees. */
#ifndef STORE_CLICKHOUSE_STORE_H
#define STORE_CLICKHOUSE_STORE_H

#include "clickhouse_cache.h"
#include "clickhouse_url.h"
#include "clock.h"
#include "lock.h"
#include "store.h"

enum clickhouse_mode { CLICKHOUSE_WRITE, CLICKHOUSE_READ, CLICKHOUSE_RUNS };

struct clickhouse_known;
struct http_client;

struct clickhouse_store {
	struct store base;
	struct clickhouse_url url;
	enum clickhouse_mode mode;
	struct clickhouse_cache *cache;		/* shared by the process; may be NULL */

	int64_t until_ns;			/* deadline of answers, monotonic; 0: none */
	struct clickhouse_shard_health health[CLICKHOUSE_SHARDS];	/* used without a cache, which has the same array */

	struct lock lock;			/* guards the members below, up to the next lock */
	struct clickhouse_idle {
		struct http_client *http;
		unsigned shard;
	} *idle;				/* connections without a request */
	size_t idle_count, idle_capacity;
	bool prepared;				/* the tables exist, in our version … */
	int64_t next_check_ns;			/* … until this was checked again, monotonic */
	bool lost_tables;			/* the tables existed, but have disappeared */
	bool replicated;			/* they are Replicated; known when prepared */
	struct store_stats stats;
	int64_t unready_until_ns;		/* monotonic: clickhouse_ready failed a moment ago … */
	struct err unready;			/* … like this */
	int64_t next_damage_log_ns;
	int64_t next_restore_ns;		/* when maintenance next looks for lost series */
	char missing[256];			/* shards missing from any answer of this store; "" if none */
	uint64_t last_seq;			/* number of the last run added */

	struct lock writer;			/* guards the members below; held while samples are sent, and days are dropped */
	struct clickhouse_known *known;
	int64_t started_s[CLICKHOUSE_SHARDS];	/* start of the server, unix time; 0: not known yet */
	uint64_t names_made[CLICKHOUSE_SHARDS];	/* when the tables of names were created, as a sum; 0: unknown */
};

/* Creates the cache for stores opened from now on, in this process and those forked from it, or replaces one that is
 * full of possibly unused entries. */
void clickhouse_renew_cache(void);

/* `until_ns` is the deadline of store_open_until; 0: no deadline. */
int clickhouse_store_open(const char *url, enum clickhouse_mode mode, int64_t until_ns, struct store **ret, struct err *err);

static inline struct clickhouse_store *clickhouse_of(struct store *s)
{
	return (struct clickhouse_store *)s;
}

/* Before each write: creates missing tables on each shard, once, and checks every ten seconds that no newer Strobe has
 * changed them since (-ENOTSUP). Returns -EROFS for stores opened to read. */
int clickhouse_prepare(struct clickhouse_store *s, struct err *err);
void clickhouse_check_soon(struct clickhouse_store *s);		/* at the next write */
bool clickhouse_is_replicated(struct clickhouse_store *s);

/* Logs why an answer is incomplete, once a minute; a reader in a separate process has the daemon log it. */
void clickhouse_note(struct clickhouse_store *s, const char *why);

/* --- clickhouse_append.c --- */
int clickhouse_append(struct store *store, const struct batch *b, struct err *err);

/* --- clickhouse_query.c, clickhouse_counts.c, clickhouse_sums.c --- */
int clickhouse_query(struct store *store, const struct store_query *q, struct profile **ret,
		     struct store_query_stats *stats, struct err *err);
int clickhouse_timeline(struct store *store, const struct store_query *q, int64_t step_ns, uint64_t *samples, size_t n,
			struct err *err);
int clickhouse_labels(struct store *store, const struct store_query *q, struct store_labels *ret, struct err *err);
int clickhouse_sums(struct store *store, const struct store_query *q, int64_t step_ns, store_sums_callback *take, void *data,
		    struct err *err);

/* --- clickhouse_retention.c --- */
int clickhouse_maintain(struct store *store, const struct store_limits *l, int64_t now_ns, struct err *err);
int clickhouse_measure(struct clickhouse_store *s, struct err *err);	/* measures the data stored, for the statistics */

/* --- clickhouse_runs.c, clickhouse_runs_limits.c, clickhouse_runs_list.c --- */
int clickhouse_add_runs(struct store *store, struct store_new_run *runs, size_t count, int64_t now_ns, struct err *err);
int clickhouse_list_runs(struct store *store, const struct store_run_query *q, struct store_runs *ret, struct err *err);
int clickhouse_run_sources(struct store *store, struct store_label *ret, struct err *err);
int clickhouse_get_run(struct store *store, const char *source, const char *id, const struct store_profile_limits *most,
		       struct store_run *ret, struct profile **ret_profile, struct err *err);
int clickhouse_remove_run(struct store *store, const char *source, const char *id, struct err *err);
int clickhouse_retain_runs(struct clickhouse_store *s, const struct store_limits *l, int64_t now_ns, struct err *err);

#endif
