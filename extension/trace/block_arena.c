/* block_arena.c: allocates pieces of blocks. */

#ifdef HAVE_CONFIG_H
#include "config.h"
#endif

#include "block_arena.h"

#include "blocks.h"
#include "strobe_assert.h"

#include <stdint.h>
#include <string.h>

void *arena_alloc(struct arena *a, size_t size)
{
	void *p;

	size = (size + 63) & ~(size_t)63;
	if (size > (size_t)(a->end - a->free)) {
		struct block *b = blocks_alloc(size, a->blocks != NULL);

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

void *arena_calloc(struct arena *a, size_t size)
{
	void *p = arena_alloc(a, size);

	return p ? memset(p, 0, size) : NULL;
}

void arena_release(struct arena *a)
{
	blocks_release(a->blocks);
	memset(a, 0, sizeof(*a));
}
