/* seen.c: open addressing; never more than two thirds full. */
#include "seen.h"
#include "mem.h"
#include <stdlib.h>

void seen_done(struct seen *s)
{
	free(s->entries);
	*s = (struct seen){ 0 };
}

static struct seen_entry *find(const struct seen *s, uint64_t low, uint64_t high)
{
	size_t mask = s->capacity - 1, i = (size_t)low & mask;

	while (s->entries[i].value && (s->entries[i].low != low || s->entries[i].high != high))
		i = (i + 1) & mask;
	return &s->entries[i];
}

static void grow(struct seen *s)
{
	struct seen old = *s;

	s->capacity = old.capacity ? old.capacity * 2 : 1024;
	s->entries = xcalloc(s->capacity, sizeof(*s->entries));
	for (size_t i = 0; i < old.capacity; i++)
		if (old.entries[i].value)
			*find(s, old.entries[i].low, old.entries[i].high) = old.entries[i];
	free(old.entries);
}

uint32_t *seen_slot(struct seen *s, XXH128_hash_t hash)
{
	struct seen_entry *e;

	if (s->count * 3 >= s->capacity * 2)
		grow(s);
	e = find(s, hash.low64, hash.high64);
	if (!e->value) {
		e->low = hash.low64;
		e->high = hash.high64;
		s->count++;
	}
	return &e->value;
}
