/* chunk_pile.h: encoded chunks with a key each, in one block of memory, to be read in the order of their keys.
 *
 * A commit collects rows bucket by bucket, compaction an hour series by series. */
#ifndef STORE_CHUNK_PILE_H
#define STORE_CHUNK_PILE_H

#include "buf.h"

struct piled_chunk {
	uint64_t key;
	size_t start, size;		/* in `bytes` */
};

struct chunk_pile {
	struct buf bytes;
	struct piled_chunk *chunks;
	size_t count, capacity;
};

void chunk_pile_init(struct chunk_pile *p);
void chunk_pile_done(struct chunk_pile *p);
void chunk_pile_clear(struct chunk_pile *p);	/* keeps the memory */

/* Adds the bytes appended to `bytes` since it had `start` bytes as a chunk. */
void chunk_pile_add(struct chunk_pile *p, uint64_t key, size_t start);

/* Sorts by key; chunks with equal keys stay in the order they were added. */
void chunk_pile_sort(struct chunk_pile *p);

#endif
