/* copies.c: a hash table of copies by address. */

#ifdef HAVE_CONFIG_H
#include "config.h"
#endif

#include "copies.h"

#include "guarded_read.h"
#include "strobe_assert.h"
#include "strobe_wire.h"

#include <stdlib.h>

#define FIRST_CAPACITY	256u

struct copy {
	const void *of;			/* NULL: free slot */
	void *copy;
};

void copies_done(struct copies *c)
{
	for (size_t i = 0; i < c->capacity; i++)
		free(c->slots[i].copy);
	free(c->slots);
	*c = (struct copies){ 0 };
}

static struct copy *find(const struct copies *c, const void *of)
{
	size_t i = ((uintptr_t)of * 0x9e3779b97f4a7c15ull >> 20) & (c->capacity - 1);

	STROBE_ASSERT(c->count < c->capacity && (c->capacity & (c->capacity - 1)) == 0);
	while (c->slots[i].of && c->slots[i].of != of)
		i = (i + 1) & (c->capacity - 1);
	return &c->slots[i];
}

static bool grow(struct copies *c)
{
	struct copies bigger = { .count = c->count, .capacity = c->capacity ? c->capacity * 2 : FIRST_CAPACITY };

	bigger.slots = calloc(bigger.capacity, sizeof(*bigger.slots));
	if (!bigger.slots)
		return false;
	for (size_t i = 0; i < c->capacity; i++)
		if (c->slots[i].of)
			*find(&bigger, c->slots[i].of) = c->slots[i];
	free(c->slots);
	*c = bigger;
	return true;
}

/* Returns the slot of the copy, or the free one for it; NULL on failure. */
static struct copy *place_of(struct copies *c, const void *of)
{
	if (c->count * 2 >= c->capacity && !grow(c)) {
		c->failed = true;
		return NULL;
	}
	return find(c, of);
}

static void *keep(struct copies *c, struct copy *place, const void *of, void *copy)
{
	STROBE_ASSERT(!place->of);
	*place = (struct copy){ of, copy };
	c->count++;
	return copy;
}

static void *fail(struct copies *c, void *half)
{
	free(half);
	c->failed = true;
	return NULL;
}

zend_string *copies_string(struct copies *c, const zend_string *s)
{
	struct copy *place;
	zend_string *copy;
	size_t length;

	if (!s || c->failed || !(place = place_of(c, s)))
		return NULL;
	if (place->of)
		return place->copy;
	if (!GUARDED_READ_MEMBER(&length, zend_string, s, len))
		return fail(c, NULL);
	length = MIN(length, STROBE_WIRE_STRING);
	copy = malloc(_ZSTR_STRUCT_SIZE(length));
	if (!copy || (length && !guarded_read(ZSTR_VAL(copy), (const char *)s + offsetof(zend_string, val), length)))
		return fail(c, copy);
	GC_SET_REFCOUNT(copy, 1);
	GC_TYPE_INFO(copy) = GC_STRING | ((IS_STR_INTERNED | IS_STR_PERSISTENT) << GC_FLAGS_SHIFT);
	ZSTR_H(copy) = 0;
	ZSTR_LEN(copy) = length;
	ZSTR_VAL(copy)[length] = '\0';
	return keep(c, place, s, copy);
}

zend_class_entry *copies_class(struct copies *c, const zend_class_entry *ce)
{
	zend_string *name, *name_copy;
	zend_class_entry *copy;
	struct copy *place;

	if (!ce || c->failed || !(place = place_of(c, ce)))
		return NULL;
	if (place->of)
		return place->copy;
	if (!GUARDED_READ_MEMBER(&name, zend_class_entry, ce, name) || !(name_copy = copies_string(c, name)))
		return fail(c, NULL);
	copy = calloc(1, sizeof(*copy));
	if (!copy || !GUARDED_READ_MEMBER(&copy->ce_flags, zend_class_entry, ce, ce_flags) || !(place = place_of(c, ce)))
		return fail(c, copy);
	copy->name = name_copy;
	return keep(c, place, ce, copy);
}

void *copies_array(struct copies *c, const void *from, size_t count, size_t size)
{
	void *to = count && !c->failed ? malloc(count * size) : NULL;

	if (count && (!to || !guarded_read(to, from, count * size)))
		return fail(c, to);
	return to;
}
