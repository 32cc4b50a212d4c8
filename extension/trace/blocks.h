/* blocks.h: memory for call trees, in blocks that the thread keeps for its next tree.
 *
 * Page faults were the largest part of the cost of tracing a single request. So a few blocks are kept when a tree is
 * freed. They are returned to the system if no tree has used them for a while, so that a rarely traced process does
 * not stay large. Blocks come from mmap, so PHP's memory_limit does not count them.
 */
#ifndef STROBE_BLOCKS_H
#define STROBE_BLOCKS_H

#include <stddef.h>

/* The header of a block; the rest, up to `size` bytes from its beginning, is uninitialized. */
struct block {
	struct block *next;		/* for the owner's list */
	size_t size;
} __attribute__((aligned(64)));

/* Returns a block with room for `size` bytes after its header. `more`: the tree already has blocks, so this one will
 * probably be filled. NULL without memory. */
struct block *blocks_alloc(size_t size, int more);

/* Returns a list of blocks. */
void blocks_release(struct block *list);

/* Call it at the end of each request: frees blocks that have not been used for a while. */
void blocks_request_end(void);

/* Frees all blocks kept by the calling thread. */
void blocks_thread_end(void);

#endif
