/* block_arena.h: memory that is allocated piece by piece and freed as a whole (blocks.h). */
#ifndef STROBE_BLOCK_ARENA_H
#define STROBE_BLOCK_ARENA_H

#include <stddef.h>

/* All zero is empty. */
struct arena {
	struct block *blocks;		/* the newest first */
	char *free, *end;		/* the free rest of the newest */
};

/* Aligned to 64 bytes, and uninitialized; NULL without memory. */
void *arena_alloc(struct arena *a, size_t size);
void *arena_calloc(struct arena *a, size_t size);

/* Empties it. */
void arena_release(struct arena *a);

#endif
