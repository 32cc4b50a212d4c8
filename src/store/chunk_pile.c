/* chunk_pile.c: bytes in the order of arrival, and a sorted list of their positions. */
#include "chunk_pile.h"
#include "mem.h"
#include <assert.h>

void chunk_pile_init(struct chunk_pile *p)
{
	*p = (struct chunk_pile){ 0 };
	buf_init(&p->bytes);
	p->bytes.limit = SIZE_MAX / 2;		/* one series of an hour may have more than BUF_LIMIT */
}

void chunk_pile_done(struct chunk_pile *p)
{
	buf_done(&p->bytes);
	free(p->chunks);
}

void chunk_pile_clear(struct chunk_pile *p)
{
	buf_reset(&p->bytes);
	p->count = 0;
}

void chunk_pile_add(struct chunk_pile *p, uint64_t key, size_t start)
{
	assert(start < p->bytes.size);
	GROW(&p->chunks, &p->capacity, p->count + 1);
	p->chunks[p->count++] = (struct piled_chunk){ key, start, p->bytes.size - start };
}

static int compare(const void *a, const void *b)
{
	const struct piled_chunk *x = a, *y = b;

	if (x->key != y->key)
		return x->key < y->key ? -1 : 1;
	return x->start < y->start ? -1 : x->start > y->start;
}

void chunk_pile_sort(struct chunk_pile *p)
{
	for (size_t i = 1; i < p->count; i++)
		if (p->chunks[i].key < p->chunks[i - 1].key) {
			qsort(p->chunks, p->count, sizeof(*p->chunks), compare);
			return;
		}
}
