/* seen.h: a set of texts seen before, with a number for each.
 *
 * Texts are identified by 128 bits of hash, which do not collide in practice: a reader that sees a stack a thousand
 * times parses it once, and stores 24 bytes for it. */
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

void seen_done(struct seen *s);		/* {0} is an empty set */

/* Returns the slot of this text's number. A new text has 0, which must be replaced before the next call. */
uint32_t *seen_slot(struct seen *s, XXH128_hash_t hash);

/* Prefetches that slot for a lookup a few hundred instructions later. */
static inline void seen_prefetch(const struct seen *s, XXH128_hash_t hash)
{
	if (s->capacity)
		__builtin_prefetch(&s->entries[hash.low64 & (s->capacity - 1)]);
}

#endif
