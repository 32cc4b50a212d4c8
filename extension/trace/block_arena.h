/* block_arena.h: memory that is allocated piece by piece and freed as a whole (blocks.h). */
#ifndef STROBE_BLOCK_ARENA_H
#define STROBE_BLOCK_ARENA_H

#include <stddef.h>

/* Zeroed means empty. */
struct arena {
	struct block *blocks;		/* newest first */
	char *free, *end;		/* unused rest of the newest block */
};

/* Returns memory aligned to 64 bytes and uninitialized; NULL if there is none. */
void *arena_alloc(struct arena *a, size_t size);
void *arena_calloc(struct arena *a, size_t size);

/* Frees everything. */
void arena_release(struct arena *a);

#endif
