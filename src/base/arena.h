/* arena.h: memory for one request, batch or picture, freed all at once. */
#ifndef BASE_ARENA_H
#define BASE_ARENA_H

#include <stddef.h>

struct arena {
	struct arena_block *last;
	size_t bytes;			/* allocated so far */
};

void arena_init(struct arena *a);
void arena_done(struct arena *a);

void *arena_alloc(struct arena *a, size_t size);	/* zeroed, aligned to 16 */
char *arena_copy(struct arena *a, const void *bytes, size_t n);	/* appends a NUL that is not counted */

#endif
