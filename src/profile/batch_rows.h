/* batch_rows.h: samples of many series over one tree of stacks.
 *
 * The series of a batch mostly ran the same code. With one tree for all of them each stack is looked up once per batch, and a
 * series is a list of nodes and values, instead of a small tree of its own with its own names. */
#ifndef PROFILE_BATCH_ROWS_H
#define PROFILE_BATCH_ROWS_H

#include "batch.h"

/* The values to add to, all 0 at first, for a stack that ends in `node`; valid until the next call. Rows are in order only after
 * batch_rows_merge. The number of columns is the same in all calls. */
int64_t *batch_rows_add(struct batch_rows *r, uint32_t columns, uint32_t node);

/* Sorts the rows, and adds up those of one node. */
void batch_rows_merge(struct batch_rows *r, uint32_t columns);
void batch_rows_done(struct batch_rows *r);

/* Approximate memory of so many rows. */
static inline uint64_t batch_rows_bytes(const struct batch_rows *r, uint32_t columns)
{
	return r->count * (sizeof(uint32_t) + columns * sizeof(int64_t));
}

/* The same batch for readers of profiles only: entries with rows get profiles that hold them. It refers to `b` for all else. */
void batch_without_rows(const struct batch *b, struct batch *ret);
void batch_without_rows_done(const struct batch *b, struct batch *ret);

#endif
