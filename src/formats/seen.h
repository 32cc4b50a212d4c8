/* seen.h: which texts were seen before, and a number for each.
 *
 * Texts are known by 128 bits of their hash, and two that differ do not meet in that: a reader that meets one stack a
 * thousand times looks at it once, and keeps 24 bytes of it. */
#ifndef FORMATS_SEEN_H
#define FORMATS_SEEN_H

#include <stddef.h>
#include <stdint.h>
#include "hash.h"

struct seen {
	struct seen_entry {
		uint64_t low, high;
		uint32_t value;		/* 0: the entry is free */
	} *entries;
	size_t count, capacity;
};

void seen_done(struct seen *s);		/* {0} is an empty one */

/* Where the number of this text is. It is 0 for a new one, and must be set to another before the next call. */
uint32_t *seen_slot(struct seen *s, XXH128_hash_t hash);

/* Has that place at hand when it is asked for some hundred instructions later. */
static inline void seen_prefetch(const struct seen *s, XXH128_hash_t hash)
{
	if (s->capacity)
		__builtin_prefetch(&s->entries[hash.low64 & (s->capacity - 1)]);
}

#endif
