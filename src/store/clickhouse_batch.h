/* clickhouse_batch.h: a batch as rows of tables, for each shard.
 *
 * Names are content: a frame is the hash of its name, file and line, a stack that of the stack above, its frame and
 * the executed line, a series that of its labels, clock, period and columns. The shard of a sample follows from its
 * stack. */
#ifndef STORE_CLICKHOUSE_BATCH_H
#define STORE_CLICKHOUSE_BATCH_H

#include "batch.h"
#include "buf.h"
#include "clickhouse_known.h"

#define CLICKHOUSE_PIECE_ROWS	500000u		/* at most in one insert, which has to be one block */
#define CLICKHOUSE_STACK	512u		/* frames of a row of `stacks`; longer ones continue another */

/* Samples of one shard and day, with their marker. */
struct clickhouse_piece {
	unsigned shard;
	uint32_t day, number;			/* numbers count the pieces of one shard and day */
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
	uint64_t collisions;			/* two of one name, of which the second counts as the first */
};

/* Makes all rows of the batch, always in the same order. `known` is updated with the entries of the dictionaries. */
void clickhouse_rows_of(const struct batch *b, unsigned shards, struct clickhouse_known *known,
			struct clickhouse_rows *ret);
void clickhouse_rows_done(struct clickhouse_rows *r);

/* The server that has a stack, in the table of samples and all others. */
static inline unsigned clickhouse_shard(uint64_t name, unsigned shards)
{
	return (unsigned)((name >> 32) * shards >> 32);
}

#endif
