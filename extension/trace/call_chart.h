/* call_chart.h: the flame chart of a trace: its calls in the order in which they began, with start and end times.
 *
 * A tree sums up calls; a chart keeps each one. It is recorded only while a session wants it (TRACE_CHART), by
 * separate handlers, so that other traces pay nothing. A running call points to its record, which is completed when
 * the call ends. Memory is bounded: address space is reserved when the chart begins, and pages are allocated as they
 * are filled. When it is full, all further calls use one spare record outside the chart, and project.c counts them by
 * comparing with the tree, which stays exact.
 *
 * When a fiber is suspended its calls are removed from the stack of running calls, and when it is resumed they are
 * pushed again elsewhere (strands.c), so each of them has several records. Only the first one is that of a call that
 * began.
 */
#ifndef STROBE_CALL_CHART_H
#define STROBE_CALL_CHART_H

#include "nodes.h"

#define CHART_RESUMED ((uintptr_t)1)

struct chart_call {
	uintptr_t node;			/* address of the node, plus CHART_RESUMED if a fiber resumed the call */
	uint64_t start, end;		/* ticks; end 0: still running */
};

struct chart {				/* zeroed: nothing is recorded */
	struct chart_call *next, *limit;	/* limit: end of the array */
	struct chart_call *calls;	/* the first record */
	struct chart_call spare;	/* for calls beyond the limit */
};

/* Begins a chart of at most `max` calls. False without memory. */
bool chart_start(struct chart *h, size_t max);
void chart_stop(struct chart *h);

/* Returns the record for a call that begins. Never NULL. */
static zend_always_inline struct chart_call *chart_begin(struct chart *h, struct node *n, uint64_t ticks)
{
	struct chart_call *call = h->next;

	if (UNEXPECTED(call == h->limit))
		return &h->spare;
	STROBE_ASSERT(call < h->limit);
	h->next = call + 1;
	call->node = (uintptr_t)n;
	call->start = ticks;
	call->end = 0;
	return call;
}

static inline struct node *chart_node(const struct chart_call *call)
{
	return (struct node *)(call->node & ~CHART_RESUMED);
}

#endif
