/* clickhouse_kinds.h: the kinds of sample values: clock, period and column. There are a few dozen. */
#ifndef STORE_CLICKHOUSE_KINDS_H
#define STORE_CLICKHOUSE_KINDS_H

#include "clickhouse_ask.h"

struct clickhouse_kind {
	uint64_t name;
	uint32_t clock;
	int64_t period_ns;
	uint32_t position;			/* position of the column within its series */
	char column[64], unit[64];
	bool timed;				/* value × period gives a time column */
};

struct clickhouse_kinds {
	struct clickhouse_kind *items;		/* sorted by name, without duplicates */
	size_t count, capacity;
};

/* Adds the kinds of a shard. A shard that lost its table may have samples of kinds that only others know, so look
 * kinds up among those of all shards. */
int clickhouse_fetch_kinds(struct clickhouse_store *s, unsigned shard, struct clickhouse_kinds *ret, struct err *err);
void clickhouse_merge_kinds(struct clickhouse_kinds *k, const struct clickhouse_kinds *others);
void clickhouse_kinds_done(struct clickhouse_kinds *k);

const struct clickhouse_kind *clickhouse_find_kind(const struct clickhouse_kinds *k, uint64_t name);	/* NULL: none */

const char *clickhouse_time_column(const struct clickhouse_kind *k);	/* "wall_ns", "cpu_ns" or NULL */

/* Puts "(kind > 0 AND kind < … OR …)": all kinds but these, as ranges in the table's sort order. */
void sql_put_other_kinds(struct buf *sql, const struct clickhouse_kinds *k);

/* Logs the number of sums omitted for lack of their kind, once a minute. */
void clickhouse_log_kindless(struct clickhouse_store *s, uint64_t sums);

#endif
