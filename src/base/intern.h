/* intern.h: byte strings as dense numbers 0, 1, 2 …; the same bytes always get the same number. */
#ifndef BASE_INTERN_H
#define BASE_INTERN_H

#include "arena.h"
#include "map.h"
#include <stdint.h>

/* Bytes with a length; not necessarily UTF-8, may contain NUL. Interned ones are also followed by a NUL. */
struct str {
	const char *p;
	size_t n;
};

/* Stores the hash next to the number, so that other strings are skipped without reading them, which would cost two
 * cache misses. */
struct intern_slot {
	uint32_t number;		/* + 1; 0: free */
	uint32_t hash;
};

struct intern {
	struct str *strings;
	size_t count, capacity;
	struct intern_slot *slots;
	size_t slot_count;
	struct arena bytes;
};

void intern_init(struct intern *t);
void intern_done(struct intern *t);

uint32_t intern_add(struct intern *t, const char *bytes, size_t n);
uint32_t intern_find(const struct intern *t, const char *bytes, size_t n);	/* UINT32_MAX if unknown */

uint32_t intern_hash(struct str s);

/* Returns the hashes of all strings by number, from the table: nothing is hashed again. */
void intern_hashes(const struct intern *t, uint32_t *ret);

static inline struct str intern_get(const struct intern *t, uint32_t id)
{
	return t->strings[id];
}

#endif
