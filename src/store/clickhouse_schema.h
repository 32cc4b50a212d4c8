/* clickhouse_schema.h: creates the tables. docs/clickhouse.md documents them; a test compares the two. */
#ifndef STORE_CLICKHOUSE_SCHEMA_H
#define STORE_CLICKHOUSE_SCHEMA_H

#include "clickhouse_store.h"

#define CLICKHOUSE_SCHEMA	1u

/* Creates missing databases and tables on each shard, in the form that the URL requires. Returns -ENOTSUP if a newer
 * Strobe created them, or the servers do not match the URL's cluster or TTL. */
int clickhouse_create(struct clickhouse_store *s, bool *ret_replicated, struct err *err);

/* Returns -ENOTSUP with a sentence if a newer Strobe has upgraded the tables of a shard, -ENOENT if they are incomplete.
 * `within_ns`: deadline of the answer; 0: the store's limit. */
int clickhouse_check_version(struct clickhouse_store *s, unsigned shard, int64_t within_ns, struct err *err);

/* Checks one shard without creating anything. Returns -ENOENT with a sentence if tables are missing. */
int clickhouse_check(struct clickhouse_store *s, unsigned shard, struct err *err);

/* Forgets which names were sent if their tables are not the same as before, since another daemon may have recreated
 * tables that disappeared, or if the server was restarted, since a power failure or a restored backup may have lost
 * some of them. */
int clickhouse_check_names(struct clickhouse_store *s, unsigned shard, struct err *err);

#endif
