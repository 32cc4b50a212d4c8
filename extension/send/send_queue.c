/* send_queue.c: a list of copies. */

#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif

#include "send_queue.h"

#include "strobe_assert.h"

#include <stdatomic.h>
#include <stdlib.h>
#include <unistd.h>

/* Overhead per message, which matters for small ones. */
#define KEEPING (sizeof(struct send_queue_message) + 16)

static _Atomic size_t total;		/* size of all queues of the process, with overhead */

void *send_queue_add(struct send_queue *q, size_t size)
{
	size_t cost = size + KEEPING;
	struct send_queue_message *m;

	if (size > WAITING_MAX)
		return NULL;
	m = atomic_fetch_add(&total, cost) + cost <= WAITING_MAX ? malloc(sizeof(*m) + size) : NULL;
	if (!m) {
		atomic_fetch_sub(&total, cost);
		return NULL;
	}
	STROBE_ASSERT(!q->first || (q->last && !q->last->next));
	m->next = NULL;
	m->size = size;
	if (q->first)
		q->last->next = m;
	else
		q->first = m;
	q->last = m;
	q->bytes += size;
	q->owner = getpid();
	return m->bytes;
}

void send_queue_remove(struct send_queue *q)
{
	struct send_queue_message *m = q->first;

	STROBE_ASSERT(m && q->bytes >= m->size && atomic_load(&total) >= m->size + KEEPING);
	q->first = m->next;
	q->bytes -= m->size;
	atomic_fetch_sub(&total, m->size + KEEPING);
	free(m);
}

void send_queue_clear(struct send_queue *q)
{
	while (q->first)
		send_queue_remove(q);
}

void send_queue_forget_parents(struct send_queue *q)
{
	if (q->first && q->owner != getpid())
		send_queue_clear(q);
}

void send_queue_count(const void *message, size_t size, uint64_t *lost, uint64_t *drops)
{
	struct strobe_wire_message m;
	const uint8_t *p;

	if (strobe_wire_parse(message, size, &m))
		return;
	*lost += m.info.kind == STROBE_WIRE_SAMPLES ? m.samples : m.info.kind == STROBE_WIRE_RUN;
	p = m.at_drops;
	for (uint32_t i = 0; i < m.drops; i++) {
		uint64_t reason = strobe_wire_next(&p);

		drops[reason < STROBE_DROP_REASONS ? reason : 0] += strobe_wire_next(&p);
	}
}
