/* map.c: open addressing with linear probing; a slot is free while its value is MAP_NONE, so keys may be anything. */
#include "map.h"
#include "mem.h"
#include <assert.h>
#include <stdlib.h>
#include <string.h>

#define CAPACITY_FIRST 16

void map_init(struct map *m)
{
	*m = (struct map){ 0 };
}

void map_done(struct map *m)
{
	if (!m)
		return;
	free(m->keys);
	free(m->values);
	*m = (struct map){ 0 };
}

void map_clear(struct map *m)
{
	/* All bytes 0xff are MAP_NONE. */
	if (m->capacity)
		memset(m->values, 0xff, m->capacity * sizeof(*m->values));
	m->count = 0;
}

/* Pairs of small numbers and addresses are far from random in their low bits. */
static inline uint64_t mix(uint64_t key)
{
	key ^= key >> 32;
	key *= 0x9e3779b97f4a7c15u;
	return key ^ key >> 29;
}

static inline size_t find(const struct map *m, uint64_t key)
{
	size_t mask = m->capacity - 1, i = mix(key) & mask;

	while (m->values[i] != MAP_NONE && m->keys[i] != key)
		i = (i + 1) & mask;
	return i;
}

static void grow(struct map *m)
{
	struct map old = *m;

	m->capacity = old.capacity ? old.capacity * 2 : CAPACITY_FIRST;
	m->keys = xmalloc(m->capacity * sizeof(*m->keys));
	m->values = xmalloc(m->capacity * sizeof(*m->values));
	memset(m->values, 0xff, m->capacity * sizeof(*m->values));
	for (size_t i = 0; i < old.capacity; i++)
		if (old.values[i] != MAP_NONE) {
			size_t at = find(m, old.keys[i]);

			m->keys[at] = old.keys[i];
			m->values[at] = old.values[i];
		}
	free(old.keys);
	free(old.values);
}

uint32_t map_get(const struct map *m, uint64_t key)
{
	return m->capacity ? m->values[find(m, key)] : MAP_NONE;
}

uint32_t *map_slot(struct map *m, uint64_t key)
{
	size_t at;

	/* Above two thirds linear probing begins to run long. */
	if (m->count * 3 >= m->capacity * 2)
		grow(m);
	at = find(m, key);
	if (m->values[at] == MAP_NONE) {
		m->keys[at] = key;
		m->count++;
	}
	return &m->values[at];
}

void map_set(struct map *m, uint64_t key, uint32_t value)
{
	assert(value != MAP_NONE);
	*map_slot(m, key) = value;
}
