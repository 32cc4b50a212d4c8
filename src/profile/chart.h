/* chart.h: the flame chart of a run: its calls one by one, in the order in which they began.
 *
 * A chart belongs to one run, so that a profile loses it when anything else is added; it is carried
 * only on request (profile_keep_chart). It is always consistent:
 *
 *	calls are sorted by start, and none ends before it starts,
 *	a call of a node lies in the time of a call of the node's parent, which stands before it; calls of nodes right below the
 *	root lie in none,
 *	two calls in the same one do not overlap.
 *
 * So one pass with a stack of open calls walks it, which is what chart_walk does.
 */
#ifndef PROFILE_CHART_H
#define PROFILE_CHART_H

#include "profile.h"

#define CHART_UNCHARTED "uncharted_calls"	/* label of a run: how many calls of the tree its chart does not have */

struct chart_call {
	uint32_t node;			/* node of the profile */
	uint32_t depth;			/* calls that it lies in */
	int64_t start_ns, end_ns;	/* since the chart's start */
};

struct chart {
	int64_t start_ns;		/* since 1970 */
	struct chart_call *calls;
	uint32_t count;

	/* private */
	size_t capacity, open_capacity;
	uint32_t *open, depth;		/* calls that the next one may lie in */
};

struct chart *chart_new(int64_t start_ns);
struct chart *chart_free(struct chart *c);	/* NULL is fine; returns NULL */

/* Adds the call that begins next, of a node of `p`; times before those of the last one become its. False, with nothing added, if no
 * call of the node's parent is open: what would make the chart inconsistent is left out, or ends with the call that it lies in. */
bool chart_add(struct chart *c, const struct profile *p, uint32_t node, int64_t start_ns, int64_t duration_ns);

/* Whether `column` of `p` (UINT32_MAX: the default one) is the time that passed, which its chart shows. False if it has none. */
bool chart_shows(const struct profile *p, uint32_t column);

/* The end of the call that ends last, since the chart's start. */
int64_t chart_end(const struct chart *c);

/* Calls `open` for each call, and `close` when it ends, in the order of time. `call` is its number. */
void chart_walk(const struct chart *c, void (*open)(void *data, uint32_t call), void (*close)(void *data, uint32_t call), void *data);

/* A copy for a profile in which each node of the old one has the number nodes[n]. */
struct chart *chart_copy(const struct chart *c, const struct profile *to, const uint32_t *nodes);

#endif
