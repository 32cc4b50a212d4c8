/* block_arena.h: memory that is taken piece by piece and given back as a whole (blocks.h). */
#ifndef STROBE_BLOCK_ARENA_H
#define STROBE_BLOCK_ARENA_H

#include <stddef.h>

/* All zero is empty. */
struct arena {
	struct block *blocks;		/* the newest first */
	char *free, *end;		/* what is left of the newest */
};

/* Aligned to 64 bytes, and holding anything; NULL without memory. */
void *arena_take(struct arena *a, size_t size);
void *arena_take_zeroed(struct arena *a, size_t size);

/* Empties it. */
void arena_give_back(struct arena *a);

#endif
