/* batch_rows.h: samples of many series over one tree of stacks.
 *
 * The series of a batch mostly ran the same code. With one tree for all of them, each stack is looked up once per
 * batch, and a series is just a list of nodes and values, instead of a small tree with its own names. */
#ifndef PROFILE_BATCH_ROWS_H
#define PROFILE_BATCH_ROWS_H

#include "batch.h"

/* Returns the values to add to, initially 0, for a stack that ends in `node`; valid until the next call. Rows are in
 * order only after batch_rows_merge. The number of columns must be the same in all calls. */
int64_t *batch_rows_add(struct batch_rows *r, uint32_t columns, uint32_t node);

/* Sorts the rows, and adds up rows of the same node. */
void batch_rows_merge(struct batch_rows *r, uint32_t columns);
void batch_rows_done(struct batch_rows *r);

/* Returns the approximate memory of the rows. */
static inline uint64_t batch_rows_bytes(const struct batch_rows *r, uint32_t columns)
{
	return r->count * (sizeof(uint32_t) + columns * sizeof(int64_t));
}

/* Makes the same batch for readers of profiles: entries with rows get profiles that include them. It refers to `b`
 * for everything else. */
void batch_without_rows(const struct batch *b, struct batch *ret);
void batch_without_rows_done(const struct batch *b, struct batch *ret);

#endif
