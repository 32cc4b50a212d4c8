/* call_chart.h: the flame chart of a trace: its calls in the order in which they began, with both times.
 *
 * A tree adds calls up; a chart keeps each one. It is recorded only while a session wants it (TRACE_CHART), by handlers of its
 * own, so that other traces pay nothing. A running call has a pointer to its record, which its end completes. Its memory is
 * bounded: the address space is reserved when the chart begins, and the system gives pages as they are filled. When it is full,
 * calls go to one record that is no part of the chart, and project.c counts them as the difference to the tree, which is exact
 * all the same.
 *
 * The calls of a fiber that is resumed are taken off the stack of running calls and put on it again elsewhere (strands.c), so each
 * of them has a record per stay. Only the first one is of a call that began.
 */
#ifndef STROBE_CALL_CHART_H
#define STROBE_CALL_CHART_H

#include "nodes.h"

#define CHART_RESUMED ((uintptr_t)1)

struct chart_call {
	uintptr_t node;			/* address of the node; CHART_RESUMED added: a fiber resumed the call */
	uint64_t start, end;		/* ticks; end 0: the call runs */
};

struct chart {				/* all zero: nothing is recorded */
	struct chart_call *next, *limit;	/* limit: one behind the last */
	struct chart_call *calls;	/* the first one */
	struct chart_call spare;	/* for calls beyond the limit */
};

/* Begins a chart of at most `max` calls. False without memory. */
bool chart_start(struct chart *h, size_t max);
void chart_stop(struct chart *h);

/* The record of a call that begins. Never NULL. */
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
