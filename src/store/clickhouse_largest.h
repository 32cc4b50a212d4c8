/* clickhouse_largest.h: the largest stacks of one shard, for queries with less memory than all stacks need. */
#ifndef STORE_CLICKHOUSE_LARGEST_H
#define STORE_CLICKHOUSE_LARGEST_H

#include "clickhouse_kinds.h"

#define CLICKHOUSE_LEFT_OUT	UINT64_MAX	/* replaces the name of a stack */

/* Reduces `sums`, rows of stack, kind and value sorted by kind, to at most `most` stacks (at least 1): those with the
 * most samples. Ties are broken arbitrarily. The other rows of a kind become one row CLICKHOUSE_LEFT_OUT, so that
 * sums stay correct. Returns whether any were left out. */
bool clickhouse_keep_largest(struct buf *sums, const struct clickhouse_kinds *kinds, uint32_t most);

#endif
