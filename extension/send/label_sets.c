/* label_sets.c: a table of sets, compared by content. */

#ifdef HAVE_CONFIG_H
#include "config.h"
#endif

#include "label_sets.h"

#include "guarded_read.h"
#include "strobe_assert.h"

#include <sys/mman.h>

struct label_sets {
	unsigned count;
	uint64_t hashes[LABEL_SETS];
	struct request_labels sets[LABEL_SETS];
};

struct label_sets *label_sets_map(void)
{
	void *p = mmap(NULL, sizeof(struct label_sets), PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	return p == MAP_FAILED ? NULL : p;
}

struct label_sets *label_sets_unmap(struct label_sets *s)
{
	if (s)
		munmap(s, sizeof(*s));
	return NULL;
}

static uint64_t hash(const struct request_labels *l)
{
	uint64_t h = l->count;

	for (unsigned i = 0; i < l->count; i++) {
		const struct request_label *label = &l->items[i];

		h = (h ^ zend_inline_hash_func(label->key, strlen(label->key))) * 0xff51afd7ed558ccdull;
		h = ((h ^ h >> 33) ^ zend_inline_hash_func(label->value, strlen(label->value))) * 0xc4ceb9fe1a85ec53ull;
	}
	return h;
}

static bool equal(const struct request_labels *a, const struct request_labels *b)
{
	if (a->count != b->count)
		return false;
	for (unsigned i = 0; i < a->count; i++)
		if (strcmp(a->items[i].key, b->items[i].key) != 0 || strcmp(a->items[i].value, b->items[i].value) != 0)
			return false;
	return true;
}

static void copy(struct request_labels *to, const struct request_labels *from)
{
	memcpy(to->items, from->items, from->count * sizeof(*from->items));
	to->count = from->count;
}

unsigned label_sets_number(struct label_sets *s, const struct request_labels *l)
{
	static const struct request_labels none;
	uint64_t h;

	if (!l)
		l = &none;
	STROBE_ASSERT(s->count <= LABEL_SETS && l->count <= REQUEST_LABELS);
	h = hash(l);
	for (unsigned i = 0; i < s->count; i++)
		if (s->hashes[i] == h && equal(&s->sets[i], l))
			return i;
	if (s->count == LABEL_SETS)
		return LABEL_SETS;
	s->hashes[s->count] = h;
	copy(&s->sets[s->count], l);
	return s->count++;
}

unsigned label_sets_count(const struct label_sets *s)
{
	return s->count;
}

const struct request_labels *label_sets_get(const struct label_sets *s, unsigned number)
{
	STROBE_ASSERT(number < s->count);
	return &s->sets[number];
}

bool label_sets_copy(struct label_sets *to, const struct label_sets *from)
{
	if (!guarded_read(to, from, offsetof(struct label_sets, sets)) || to->count > LABEL_SETS)
		return false;
	for (unsigned i = 0; i < to->count; i++)
		if (!request_labels_copy(&to->sets[i], &from->sets[i]))
			return false;
	return true;
}

void label_sets_empty(struct label_sets *s)
{
	if (s)
		s->count = 0;
}
