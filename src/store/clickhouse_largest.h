/* clickhouse_largest.h: the largest stacks of one shard, for queries with less memory than all stacks need. */
#ifndef STORE_CLICKHOUSE_LARGEST_H
#define STORE_CLICKHOUSE_LARGEST_H

#include "clickhouse_kinds.h"

#define CLICKHOUSE_LEFT_OUT	UINT64_MAX	/* in place of the name of a stack */

/* Cuts `sums`, rows of stack, kind and value that are sorted by kind, down to at most `most` stacks (at least 1), those with the most
 * samples; of equal ones any. The other rows of a kind become one row CLICKHOUSE_LEFT_OUT, so that sums stay right. Returns whether there
 * are such. */
bool clickhouse_keep_largest(struct buf *sums, const struct clickhouse_kinds *kinds, uint32_t most);

#endif
