/* pending_chunks.h: encoded chunks with a key each, in one block of memory, to be read in the order of their keys.
 *
 * A commit collects rows bucket by bucket, compaction an hour series by series. */
#ifndef STORE_PENDING_CHUNKS_H
#define STORE_PENDING_CHUNKS_H

#include "buf.h"

struct pending_chunk {
	uint64_t key;
	size_t start, size;		/* in `bytes` */
};

struct pending_chunks {
	struct buf bytes;
	struct pending_chunk *chunks;
	size_t count, capacity;
};

void pending_chunks_init(struct pending_chunks *p);
void pending_chunks_done(struct pending_chunks *p);
void pending_chunks_clear(struct pending_chunks *p);	/* keeps the memory */

/* Adds the bytes appended to `bytes` since it had `start` bytes as a chunk. */
void pending_chunks_add(struct pending_chunks *p, uint64_t key, size_t start);

/* Sorts by key; chunks with equal keys stay in the order they were added. */
void pending_chunks_sort(struct pending_chunks *p);

#endif
