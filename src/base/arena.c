/* arena.c: memory in growing blocks, freed all at once. */
#include "arena.h"
#include "mem.h"
#include <assert.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#define BLOCK_FIRST	((size_t)4 << 10)
#define BLOCK_MAX	((size_t)1 << 20)
#define ALIGNMENT	16

struct arena_block {
	struct arena_block *before;
	size_t size, used;
	_Alignas(ALIGNMENT) char bytes[];
};

void arena_init(struct arena *a)
{
	*a = (struct arena){ 0 };
}

void arena_done(struct arena *a)
{
	struct arena_block *before;

	if (!a)
		return;
	for (struct arena_block *b = a->last; b; b = before) {
		before = b->before;
		free(b);
	}
	*a = (struct arena){ 0 };
}

/* Blocks double up to a megabyte, so that a small arena costs little and a large one few calls. */
static struct arena_block *add_block(struct arena *a, size_t need)
{
	size_t size = a->last ? a->last->size * 2 : BLOCK_FIRST;
	struct arena_block *b;

	if (size > BLOCK_MAX)
		size = BLOCK_MAX;
	if (size < need)
		size = need;
	b = xmalloc(sizeof(*b) + size);
	b->size = size;
	b->used = 0;
	/* A single large allocation must not waste the remaining space of a block. */
	if (a->last && size == need && a->last->size - a->last->used > size / 8) {
		b->before = a->last->before;
		a->last->before = b;
	} else {
		b->before = a->last;
		a->last = b;
	}
	return b;
}

static char *take(struct arena *a, size_t size, size_t alignment)
{
	struct arena_block *b = a->last;
	size_t at = b ? (b->used + alignment - 1) & ~(alignment - 1) : 0;

	assert(size <= SIZE_MAX / 2);
	if (!b || at > b->size || size > b->size - at) {
		b = add_block(a, size);
		at = 0;
	}
	b->used = at + size;
	a->bytes += size;
	return b->bytes + at;
}

void *arena_alloc(struct arena *a, size_t size)
{
	return memset(take(a, size, ALIGNMENT), 0, size);
}

char *arena_copy(struct arena *a, const void *bytes, size_t n)
{
	char *copy = take(a, n + 1, 1);

	if (n)
		memcpy(copy, bytes, n);
	copy[n] = 0;
	return copy;
}
