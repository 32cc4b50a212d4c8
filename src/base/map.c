/* map.c: open addressing with linear probing; a slot is free while its value is MAP_NONE, so keys may be anything. */
#include "map.h"
#include "mem.h"
#include <assert.h>
#include <stdlib.h>
#include <string.h>

#define CAPACITY_FIRST 16

/* Key and value are adjacent, because a large map has a cache miss per lookup. */
struct map_entry {
	uint64_t key;
	uint32_t value;
};

void map_init(struct map *m)
{
	*m = (struct map){ 0 };
}

void map_done(struct map *m)
{
	if (!m)
		return;
	free(m->entries);
	*m = (struct map){ 0 };
}

void map_clear(struct map *m)
{
	/* Filling with 0xff sets all values to MAP_NONE. */
	if (m->capacity)
		memset(m->entries, 0xff, m->capacity * sizeof(*m->entries));
	m->count = 0;
}

/* The low bits of packed small numbers and of addresses are far from random. */
static inline uint64_t mix(uint64_t key)
{
	key ^= key >> 32;
	key *= 0x9e3779b97f4a7c15u;
	return key ^ key >> 29;
}

static inline struct map_entry *find(const struct map *m, uint64_t key)
{
	size_t mask = m->capacity - 1, i = mix(key) & mask;

	while (m->entries[i].value != MAP_NONE && m->entries[i].key != key)
		i = (i + 1) & mask;
	return &m->entries[i];
}

static void grow(struct map *m)
{
	struct map old = *m;

	m->capacity = old.capacity ? old.capacity * 2 : CAPACITY_FIRST;
	m->entries = xmalloc(m->capacity * sizeof(*m->entries));
	memset(m->entries, 0xff, m->capacity * sizeof(*m->entries));
	for (size_t i = 0; i < old.capacity; i++)
		if (old.entries[i].value != MAP_NONE)
			*find(m, old.entries[i].key) = old.entries[i];
	free(old.entries);
}

uint32_t map_get(const struct map *m, uint64_t key)
{
	return m->capacity ? find(m, key)->value : MAP_NONE;
}

void map_prefetch(const struct map *m, uint64_t key)
{
	if (m->capacity)
		__builtin_prefetch(&m->entries[mix(key) & (m->capacity - 1)]);
}

uint32_t *map_slot(struct map *m, uint64_t key)
{
	struct map_entry *e;

	/* Above two thirds, probe sequences become long. */
	if (m->count * 3 >= m->capacity * 2)
		grow(m);
	e = find(m, key);
	if (e->value == MAP_NONE) {
		e->key = key;
		m->count++;
	}
	return &e->value;
}

void map_set(struct map *m, uint64_t key, uint32_t value)
{
	assert(value != MAP_NONE);
	*map_slot(m, key) = value;
}
