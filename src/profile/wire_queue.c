/* wire_queue.c: a list of messages, sorted when the first is taken. */
#include "wire_queue.h"

#include "mem.h"
#include "wire_profile.h"

#include <assert.h>
#include <stdlib.h>

#define CACHE_LINE	64u
#define PREFETCHED	((size_t)16 << 10)	/* bytes of one message */

void wire_queue_init(struct wire_queue *w)
{
	*w = (struct wire_queue){ 0 };
	arena_init(&w->bytes);
}

void wire_queue_done(struct wire_queue *w)
{
	free(w->list);
	arena_done(&w->bytes);
	wire_queue_init(w);
}

void wire_queue_clear(struct wire_queue *w)
{
	arena_done(&w->bytes);
	w->count = w->taken = 0;
	w->sorted = false;
}

void wire_queue_add(struct wire_queue *w, uint32_t series, const struct strobe_wire_message *m)
{
	assert(!w->sorted && !w->taken);
	GROW(&w->list, &w->capacity, w->count + 1);
	w->list[w->count] = (struct wire_queue_entry){
		series, (uint32_t)w->count, wire_message_at(m, arena_copy(&w->bytes, wire_message_bytes(m), m->size)),
	};
	w->count++;
}

static int compare(const void *a, const void *b)
{
	const struct wire_queue_entry *x = a, *y = b;

	if (x->series != y->series)
		return x->series < y->series ? -1 : 1;
	return (x->number > y->number) - (x->number < y->number);
}

/* The message was written a second ago or earlier. While one message is added, the bytes of the next are prefetched
 * into the cache. */
static void prefetch(const struct strobe_wire_message *m)
{
	const uint8_t *bytes = wire_message_bytes(m);

	for (size_t i = 0; i < m->size && i < PREFETCHED; i += CACHE_LINE)
		__builtin_prefetch(bytes + i);
}

const struct wire_queue_entry *wire_queue_take(struct wire_queue *w)
{
	if (!w->sorted && w->count)
		qsort(w->list, w->count, sizeof(*w->list), compare);
	w->sorted = true;
	assert(w->taken <= w->count);
	if (w->taken + 1 < w->count)
		prefetch(&w->list[w->taken + 1].message);
	if (w->taken < w->count)
		return &w->list[w->taken++];
	wire_queue_clear(w);
	return NULL;
}

bool wire_queue_is_empty(const struct wire_queue *w)
{
	return w->taken == w->count;
}
