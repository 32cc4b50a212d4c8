/* pending_chunks.c: bytes in the order of arrival, and a sorted list of their positions. */
#include "pending_chunks.h"
#include "mem.h"
#include <assert.h>

void pending_chunks_init(struct pending_chunks *p)
{
	*p = (struct pending_chunks){ 0 };
	buf_init(&p->bytes);
	p->bytes.limit = SIZE_MAX / 2;		/* one series of an hour may have more than BUF_LIMIT */
}

void pending_chunks_done(struct pending_chunks *p)
{
	buf_done(&p->bytes);
	free(p->chunks);
}

void pending_chunks_clear(struct pending_chunks *p)
{
	buf_reset(&p->bytes);
	p->count = 0;
}

void pending_chunks_add(struct pending_chunks *p, uint64_t key, size_t start)
{
	assert(start < p->bytes.size);
	GROW(&p->chunks, &p->capacity, p->count + 1);
	p->chunks[p->count++] = (struct pending_chunk){ key, start, p->bytes.size - start };
}

static int compare(const void *a, const void *b)
{
	const struct pending_chunk *x = a, *y = b;

	if (x->key != y->key)
		return x->key < y->key ? -1 : 1;
	return x->start < y->start ? -1 : x->start > y->start;
}

void pending_chunks_sort(struct pending_chunks *p)
{
	for (size_t i = 1; i < p->count; i++)
		if (p->chunks[i].key < p->chunks[i - 1].key) {
			qsort(p->chunks, p->count, sizeof(*p->chunks), compare);
			return;
		}
}
