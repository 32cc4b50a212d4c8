/* blocks.h: memory for call trees, in blocks that the thread keeps for its next tree.
 *
 * Page faults were the largest part of the cost of tracing a single request. So a few blocks are kept when a
 * tree is done; they go back to the system when no tree has taken one for a while, so that a process that is traced
 * seldom does not stay large. Blocks come from mmap: PHP's memory_limit does not count them.
 */
#ifndef STROBE_BLOCKS_H
#define STROBE_BLOCKS_H

#include <stddef.h>

/* The head of a block; what follows it, up to `size` bytes from its beginning, is uninitialized. */
struct block {
	struct block *next;		/* the owner's */
	size_t size;
} __attribute__((aligned(64)));

/* A block with room for `size` bytes behind its head. `more`: the tree has blocks already, so that this one will mostly be
 * filled. NULL without memory. */
struct block *blocks_alloc(size_t size, int more);

/* Gives back a list of blocks. */
void blocks_release(struct block *list);

/* At the end of each request: frees blocks that have not been used for long. */
void blocks_request_end(void);

/* Frees everything that the calling thread keeps. */
void blocks_thread_end(void);

#endif
