/* clickhouse_batch.h: a batch as rows of tables, for each shard.
 *
 * Names are hashes of content: a frame's of its name, file and line; a stack's of its caller's stack, its frame and
 * the executed line; a series' of its labels, clock, period and columns. The stack determines the shard of a
 * sample. */
#ifndef STORE_CLICKHOUSE_BATCH_H
#define STORE_CLICKHOUSE_BATCH_H

#include "batch.h"
#include "buf.h"
#include "clickhouse_known.h"

#define CLICKHOUSE_PIECE_ROWS	500000u		/* limit of one insert, which must be one block */
#define CLICKHOUSE_STACK	512u		/* frames per row of `stacks`; longer stacks continue another row */

/* The samples of one shard and day, with their marker. */
struct clickhouse_piece {
	unsigned shard;
	uint32_t day, number;			/* `number` counts the pieces of one shard and day */
	uint32_t rows;
	uint64_t samples;
	uint16_t first, last;			/* buckets */
	struct buf bytes;			/* rows of `samples` */
	bool stored;
};

enum clickhouse_dictionary { CLICKHOUSE_KINDS, CLICKHOUSE_SERIES, CLICKHOUSE_FRAMES, CLICKHOUSE_STACKS,
			     CLICKHOUSE_DICTIONARIES };

extern const char *const clickhouse_dictionary_names[CLICKHOUSE_DICTIONARIES];

struct clickhouse_rows {
	struct clickhouse_piece *pieces;
	size_t piece_count, piece_capacity;
	struct buf *dictionaries;		/* by shard × CLICKHOUSE_DICTIONARIES */
	unsigned shards;
	uint64_t collisions;			/* pairs with equal names; the second of each counts as the first */
};

/* Builds all rows of the batch, always in the same order. Adds the dictionary entries to `known`. */
void clickhouse_rows_of(const struct batch *b, unsigned shards, struct clickhouse_known *known,
			struct clickhouse_rows *ret);
void clickhouse_rows_done(struct clickhouse_rows *r);

/* Returns the shard that has this stack in the table of samples and in all others. */
static inline unsigned clickhouse_shard(uint64_t name, unsigned shards)
{
	return (unsigned)((name >> 32) * shards >> 32);
}

#endif
