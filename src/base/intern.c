/* intern.c: stores each byte string once, found by hash and compared in full. */
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
	free(t->slots);
	arena_done(&t->bytes);
	*t = (struct intern){ 0 };
}

static uint32_t hash_of(const char *bytes, size_t n)
{
	return (uint32_t)XXH3_64bits(bytes, n);
}

/* Returns the slot that contains the string, or the free one where it belongs. */
static size_t find(const struct intern *t, const char *bytes, size_t n, uint32_t hash)
{
	size_t mask = t->slot_count - 1, i = hash & mask;

	for (; t->slots[i].number; i = (i + 1) & mask) {
		const struct str *s = &t->strings[t->slots[i].number - 1];

		if (t->slots[i].hash == hash && s->n == n && (n == 0 || !memcmp(s->p, bytes, n)))
			break;
	}
	return i;
}

static void grow_slots(struct intern *t)
{
	size_t n = t->slot_count ? t->slot_count * 2 : SLOTS_FIRST, old = t->slot_count;
	struct intern_slot *slots = xcalloc(n, sizeof(*slots));

	for (size_t k = 0; k < old; k++) {
		size_t i = t->slots[k].hash & (n - 1);

		if (!t->slots[k].number)
			continue;
		while (slots[i].number)
			i = (i + 1) & (n - 1);
		slots[i] = t->slots[k];
	}
	free(t->slots);
	t->slots = slots;
	t->slot_count = n;
}

uint32_t intern_add(struct intern *t, const char *bytes, size_t n)
{
	uint32_t hash = hash_of(bytes, n), id;
	size_t at;

	if (t->count * 3 >= t->slot_count * 2)
		grow_slots(t);
	at = find(t, bytes, n, hash);
	if (t->slots[at].number)
		return t->slots[at].number - 1;

	assert(t->count < UINT32_MAX - 1);
	GROW(&t->strings, &t->capacity, t->count + 1);
	id = (uint32_t)t->count++;
	t->strings[id] = (struct str){ arena_copy(&t->bytes, bytes, n), n };
	t->slots[at] = (struct intern_slot){ id + 1, hash };
	return id;
}

uint32_t intern_hash(struct str s)
{
	return hash_of(s.p, s.n);
}

void intern_hashes(const struct intern *t, uint32_t *ret)
{
	for (size_t i = 0; i < t->slot_count; i++)
		if (t->slots[i].number)
			ret[t->slots[i].number - 1] = t->slots[i].hash;
}

uint32_t intern_find(const struct intern *t, const char *bytes, size_t n)
{
	size_t at;

	if (!t->slot_count)
		return UINT32_MAX;
	at = find(t, bytes, n, hash_of(bytes, n));
	return t->slots[at].number ? t->slots[at].number - 1 : UINT32_MAX;
}
