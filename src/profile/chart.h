/* chart.h: the flame chart of a run: its calls one by one, in the order in which they began.
 *
 * A chart belongs to one run, so a profile loses it when anything else is added; it is kept only on request
 * (profile_keep_chart). It is always consistent:
 *
 *	calls are sorted by start, and none ends before it starts,
 *	a call of a node is within a call of the node's parent, which precedes it; calls of nodes right below the
 *	root are in no other call,
 *	two calls within the same call do not overlap.
 *
 * So one pass with a stack of open calls walks it; chart_walk does that.
 */
#ifndef PROFILE_CHART_H
#define PROFILE_CHART_H

#include "profile.h"

#define CHART_UNCHARTED "uncharted_calls"	/* label of a run: number of calls missing in its chart */

struct chart_call {
	uint32_t node;			/* node of the profile */
	uint32_t depth;			/* number of calls around it */
	int64_t start_ns, end_ns;	/* since the chart's start */
};

struct chart {
	int64_t start_ns;		/* since 1970 */
	struct chart_call *calls;
	uint32_t count;

	/* private */
	size_t capacity, open_capacity;
	uint32_t *open, depth;		/* calls that the next one may be nested in */
};

struct chart *chart_new(int64_t start_ns);
struct chart *chart_free(struct chart *c);	/* NULL is fine; returns NULL */

/* Adds the call that begins next, of a node of `p`; times before the previous call's are raised to it. Returns false,
 * and adds nothing, if no call of the node's parent is open: calls that would make the chart inconsistent are left
 * out, or end with their caller. */
bool chart_add(struct chart *c, const struct profile *p, uint32_t node, int64_t start_ns, int64_t duration_ns);

/* Tells whether `column` of `p` (UINT32_MAX: the default one) is the elapsed time, which its chart shows. False
 * without a chart. */
bool chart_shows(const struct profile *p, uint32_t column);

/* Returns the end of the call that ends last, since the chart's start. */
int64_t chart_end(const struct chart *c);

/* Calls `open` for each call, and `close` when it ends, in chronological order. `call` is its index. */
void chart_walk(const struct chart *c, void (*open)(void *data, uint32_t call), void (*close)(void *data, uint32_t call), void *data);

/* Copies a chart for a profile in which nodes[n] is the number of node n. */
struct chart *chart_copy(const struct chart *c, const struct profile *to, const uint32_t *nodes);

#endif
