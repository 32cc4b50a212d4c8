/* clickhouse_series.h: the series that match a query, with their labels, on all shards. */
#ifndef STORE_CLICKHOUSE_SERIES_H
#define STORE_CLICKHOUSE_SERIES_H

#include "clickhouse_ask.h"
#include "map.h"

struct clickhouse_series {
	struct clickhouse_series_row {
		uint64_t name;
		bool matches;
		struct labels labels;
	} *items;				/* without duplicates */
	size_t count, capacity;
	struct map by_name;
};

/* Adds a shard's series of the query's days, with labels for those that match. */
int clickhouse_fetch_series(struct clickhouse_store *s, unsigned shard, const struct store_query *q, struct buf *ret,
			    struct err *err);
void clickhouse_add_series(struct clickhouse_series *t, const struct buf *answer);
void clickhouse_series_done(struct clickhouse_series *t);

struct clickhouse_series_row *clickhouse_find_series(struct clickhouse_series *t, uint64_t name);	/* NULL: none */

/* Puts " AND series IN (…)", or nothing without filters. */
void sql_put_series(struct buf *sql, const struct store_query *q);

#endif
