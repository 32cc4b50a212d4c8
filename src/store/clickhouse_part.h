/* clickhouse_part.h: one shard's part of a query result; each query fills the fields it needs. */
#ifndef STORE_CLICKHOUSE_PART_H
#define STORE_CLICKHOUSE_PART_H

#include "clickhouse_kinds.h"
#include "clickhouse_stacks.h"

struct clickhouse_part {
	struct clickhouse_kinds kinds;
	struct buf rows, ranges, series, days;
	struct clickhouse_stacks stacks;
	bool is_cut;			/* `rows` has the largest stacks only */
};

void clickhouse_part_init(struct clickhouse_part *p);
void clickhouse_part_done(struct clickhouse_part *p);
void clickhouse_part_reset(struct clickhouse_part *p);	/* a shard that fails midway contributes nothing */

#endif
