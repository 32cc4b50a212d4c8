/* block_arena.c: pieces of blocks. */

#ifdef HAVE_CONFIG_H
#include "config.h"
#endif

#include "block_arena.h"

#include "blocks.h"
#include "strobe_assert.h"

#include <string.h>

void *arena_take(struct arena *a, size_t size)
{
	void *p;

	size = (size + 63) & ~(size_t)63;
	if (size > (size_t)(a->end - a->free)) {
		struct block *b = blocks_take(size, a->blocks != NULL);

		if (!b)
			return NULL;
		b->next = a->blocks;
		a->blocks = b;
		a->free = (char *)(b + 1);
		a->end = (char *)b + b->size;
		STROBE_ASSERT(size <= (size_t)(a->end - a->free));
	}
	p = a->free;
	a->free += size;
	STROBE_ASSERT(a->free <= a->end && !((uintptr_t)p & 63));
	return p;
}

void *arena_take_zeroed(struct arena *a, size_t size)
{
	void *p = arena_take(a, size);

	return p ? memset(p, 0, size) : NULL;
}

void arena_give_back(struct arena *a)
{
	blocks_give_back(a->blocks);
	memset(a, 0, sizeof(*a));
}
