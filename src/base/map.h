/* map.h: a hash map from 64-bit keys to 32-bit numbers, by open addressing.
 *
 * Keys have no meaning here: hash strings to 64 bits first, or pack a pair of numbers. */
#ifndef BASE_MAP_H
#define BASE_MAP_H

#include <stddef.h>
#include <stdint.h>

#define MAP_NONE UINT32_MAX	/* the value for "not found", so it cannot be stored */

struct map {
	struct map_entry *entries;
	size_t count, capacity;
};

void map_init(struct map *m);
void map_done(struct map *m);
void map_clear(struct map *m);

uint32_t map_get(const struct map *m, uint64_t key);	/* MAP_NONE if not found */
void map_set(struct map *m, uint64_t key, uint32_t value);

/* Prefetches the memory that map_get will read. */
void map_prefetch(const struct map *m, uint64_t key);

/* Returns a pointer to the value of `key`; a new one is MAP_NONE and must be set before the next call. */
uint32_t *map_slot(struct map *m, uint64_t key);

/* Packs both numbers into one key. */
static inline uint64_t map_pair(uint32_t high, uint32_t low)
{
	return (uint64_t)high << 32 | low;
}

#endif
