/* intern.c: each byte string once, found by hash and compared in full. */
#include "intern.h"
#include "mem.h"
#include <assert.h>
#include <stdlib.h>
#include <string.h>
#include <xxhash.h>

#define SLOTS_FIRST 64

void intern_init(struct intern *t)
{
	*t = (struct intern){ 0 };
	arena_init(&t->bytes);
}

void intern_done(struct intern *t)
{
	if (!t)
		return;
	free(t->strings);
	free(t->hashes);
	free(t->slots);
	arena_done(&t->bytes);
	*t = (struct intern){ 0 };
}

static uint32_t hash_of(const char *bytes, size_t n)
{
	return (uint32_t)XXH3_64bits(bytes, n);
}

/* The slot that holds the string, or the free one where it belongs. */
static size_t find(const struct intern *t, const char *bytes, size_t n, uint32_t hash)
{
	size_t mask = t->slot_count - 1, i = hash & mask;

	for (; t->slots[i]; i = (i + 1) & mask) {
		uint32_t id = t->slots[i] - 1;

		if (t->hashes[id] == hash && t->strings[id].n == n && (n == 0 || !memcmp(t->strings[id].p, bytes, n)))
			break;
	}
	return i;
}

static void grow_slots(struct intern *t)
{
	size_t n = t->slot_count ? t->slot_count * 2 : SLOTS_FIRST;

	free(t->slots);
	t->slots = xcalloc(n, sizeof(*t->slots));
	t->slot_count = n;
	for (uint32_t id = 0; id < t->count; id++) {
		size_t i = t->hashes[id] & (n - 1);

		while (t->slots[i])
			i = (i + 1) & (n - 1);
		t->slots[i] = id + 1;
	}
}

uint32_t intern_add(struct intern *t, const char *bytes, size_t n)
{
	uint32_t hash = hash_of(bytes, n), id;
	size_t at;

	if (t->count * 3 >= t->slot_count * 2)
		grow_slots(t);
	at = find(t, bytes, n, hash);
	if (t->slots[at])
		return t->slots[at] - 1;

	assert(t->count < UINT32_MAX - 1);
	if (t->count == t->capacity) {
		GROW(&t->strings, &t->capacity, t->count + 1);
		t->hashes = xrealloc(t->hashes, t->capacity * sizeof(*t->hashes));
	}
	id = (uint32_t)t->count++;
	t->strings[id] = (struct str){ arena_copy(&t->bytes, bytes, n), n };
	t->hashes[id] = hash;
	t->slots[at] = id + 1;
	return id;
}

uint32_t intern_find(const struct intern *t, const char *bytes, size_t n)
{
	size_t at;

	if (!t->slot_count)
		return UINT32_MAX;
	at = find(t, bytes, n, hash_of(bytes, n));
	return t->slots[at] ? t->slots[at] - 1 : UINT32_MAX;
}
