/* clickhouse_kinds.h: the kinds of sample values: clock, period and column. There are a few dozen. */
#ifndef STORE_CLICKHOUSE_KINDS_H
#define STORE_CLICKHOUSE_KINDS_H

#include "clickhouse_ask.h"

struct clickhouse_kind {
	uint64_t name;
	uint32_t clock;
	int64_t period_ns;
	uint32_t position;			/* position of the column among those of its series */
	char column[64], unit[64];
	bool timed;				/* values × period is a column of time */
};

struct clickhouse_kinds {
	struct clickhouse_kind *items;		/* by name, each once */
	size_t count, capacity;
};

/* Adds those that a shard has. */
int clickhouse_fetch_kinds(struct clickhouse_store *s, unsigned shard, struct clickhouse_kinds *ret, struct err *err);
void clickhouse_kinds_done(struct clickhouse_kinds *k);

const struct clickhouse_kind *clickhouse_find_kind(const struct clickhouse_kinds *k, uint64_t name);	/* NULL: none */

const char *clickhouse_time_column(const struct clickhouse_kind *k);	/* "wall_ns" or "cpu_ns"; NULL: time does not follow */

#endif
