/* waiting.c: a list of copies. */

#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif

#include "waiting.h"

#include <stdatomic.h>
#include <stdlib.h>
#include <unistd.h>

/* Small messages cost more than their bytes. */
#define KEEPING (sizeof(struct waiting_message) + 16)

static _Atomic size_t total;		/* of all queues of the process, with what keeping them takes */

void *waiting_add(struct waiting *q, size_t size)
{
	size_t cost = size + KEEPING;
	struct waiting_message *m;

	if (size > WAITING_MAX)
		return NULL;
	m = atomic_fetch_add(&total, cost) + cost <= WAITING_MAX ? malloc(sizeof(*m) + size) : NULL;
	if (!m) {
		atomic_fetch_sub(&total, cost);
		return NULL;
	}
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

void waiting_remove(struct waiting *q)
{
	struct waiting_message *m = q->first;

	q->first = m->next;
	q->bytes -= m->size;
	atomic_fetch_sub(&total, m->size + KEEPING);
	free(m);
}

void waiting_clear(struct waiting *q)
{
	while (q->first)
		waiting_remove(q);
}

void waiting_forget_parents(struct waiting *q)
{
	if (q->first && q->owner != getpid())
		waiting_clear(q);
}

void waiting_count(const void *message, size_t size, uint64_t *lost, uint64_t *drops)
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
