/* clickhouse_schema.h: the tables. docs/clickhouse.md explains them; a test compares the two. */
#ifndef STORE_CLICKHOUSE_SCHEMA_H
#define STORE_CLICKHOUSE_SCHEMA_H

#include "clickhouse_store.h"

#define CLICKHOUSE_SCHEMA	1u

/* Creates database and tables of one shard where they are missing. -ENOTSUP: a newer Strobe made them. */
int clickhouse_create(struct clickhouse_store *s, unsigned shard, struct err *err);

/* The same without creating anything: -ENOENT with a sentence if they are missing. */
int clickhouse_check(struct clickhouse_store *s, unsigned shard, struct err *err);

#endif
