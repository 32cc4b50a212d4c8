/* clickhouse_schema.h: the tables. docs/clickhouse.md explains them; a test compares the two. */
#ifndef STORE_CLICKHOUSE_SCHEMA_H
#define STORE_CLICKHOUSE_SCHEMA_H

#include "clickhouse_store.h"

#define CLICKHOUSE_SCHEMA	1u

/* Creates the database and the tables on each shard where they are missing, in the form that the URL requires. -ENOTSUP: a newer
 * Strobe made them, or the servers do not fit the URL's cluster or TTL. */
int clickhouse_create(struct clickhouse_store *s, bool *ret_replicated, struct err *err);

/* The same for one shard without creating anything: -ENOENT with a sentence if they are missing. */
int clickhouse_check(struct clickhouse_store *s, unsigned shard, struct err *err);

/* Forgets the names that were sent if the tables that have them are other ones than before, since another daemon may have created them in
 * the place of those that disappeared, or if the server was restarted: a power failure or a backup may have cost it some of them. */
int clickhouse_check_names(struct clickhouse_store *s, unsigned shard, struct err *err);

#endif
