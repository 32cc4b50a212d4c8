/* edges.c: who calls a function, and what it calls. */

#include "report.h"

#include "mem.h"
#include "saturate.h"

#include <string.h>

/* What a node's own values belong to, by the stack above it. A frame number, or: */
#define OUTSIDE	UINT32_MAX		/* the function is not on the stack */
#define ITSELF	(UINT32_MAX - 1)	/* the function is the leaf */
#define ROOT	(UINT32_MAX - 2)	/* nothing called it */

static uint32_t caller_of(const struct profile *p, uint32_t node)
{
	return p->parents[node] == PROFILE_ROOT ? ROOT : p->node_frames[p->parents[node]];
}

/* By node, from those of its parent, which has the smaller number. */
static uint32_t *belongings(const struct profile *p, const bool *of, enum report_direction direction)
{
	uint32_t *to = xcalloc(p->node_count, sizeof(*to));

	to[PROFILE_ROOT] = OUTSIDE;
	for (uint32_t n = 1; n < p->node_count; n++) {
		uint32_t above = to[p->parents[n]];
		bool inside = of[p->node_frames[n]];

		if (direction == REPORT_CALLERS)
			to[n] = above == OUTSIDE && inside ? caller_of(p, n) : above;
		else
			to[n] = inside ? ITSELF : above == ITSELF ? p->node_frames[n] : above;
	}
	return to;
}

/* Edges as they are found. */
struct gathering {
	struct report_edges *e;
	uint32_t *place;		/* by frame, and one more for the root: number of the edge + 1 */
	uint32_t frame_count;
	size_t capacity;
};

static struct report_edge *edge(struct gathering *g, uint32_t frame)
{
	uint32_t *place = &g->place[frame == ROOT ? g->frame_count : frame];

	if (!*place) {
		GROW(&g->e->edges, &g->capacity, g->e->count + 1);
		g->e->edges[g->e->count] = (struct report_edge){ .frame = frame == ROOT ? REPORT_NO_CALLER : frame };
		*place = (uint32_t)++g->e->count;
	}
	return &g->e->edges[*place - 1];
}

/* All columns but the calls. */
static void add_values(int64_t *sums, const struct profile *p, uint32_t node, uint32_t calls)
{
	for (uint32_t c = 0; c < p->column_count; c++)
		if (c != calls)
			saturating_add(&sums[c], p->columns[c].self[node]);
}

static void gather_values(struct gathering *g, const struct profile *p, const bool *of, const uint32_t *to,
			  uint32_t calls)
{
	for (uint32_t n = 1; n < p->node_count; n++) {
		if (to[n] == OUTSIDE || !profile_has_values(p, n))
			continue;
		add_values(g->e->total, p, n, calls);
		if (of[p->node_frames[n]])
			add_values(g->e->self, p, n, calls);
		if (to[n] != ITSELF)
			add_values(edge(g, to[n])->values, p, n, calls);
	}
}

/* Each call is of one edge, also that of a function by itself. */
static void gather_calls(struct gathering *g, const struct profile *p, const bool *of, enum report_direction direction,
			 uint32_t calls)
{
	for (uint32_t n = 1; n < p->node_count; n++) {
		uint32_t caller = caller_of(p, n), callee = p->node_frames[n];
		int64_t count = p->columns[calls].self[n];

		if (of[callee])
			saturating_add(&g->e->self[calls], count);
		if (!count)
			continue;
		if (direction == REPORT_CALLERS && of[callee])
			saturating_add(&edge(g, caller)->values[calls], count);
		if (direction == REPORT_CALLEES && caller != ROOT && of[caller])
			saturating_add(&edge(g, callee)->values[calls], count);
	}
	g->e->total[calls] = g->e->self[calls];
}

static void gather_again(struct report_edges *e, const struct profile *p, const bool *of, uint32_t calls)
{
	_cleanup_(freep) uint8_t *times = xcalloc(p->node_count, sizeof(*times));

	for (uint32_t n = 1; n < p->node_count; n++) {
		times[n] = times[p->parents[n]];
		if (of[p->node_frames[n]] && times[n] < 2)
			times[n]++;
		if (times[n] == 2)
			add_values(e->again, p, n, calls);
	}
}

struct order {
	const struct profile *p;
	uint32_t column, calls;
};

static int compare_names(const struct profile *p, uint32_t a, uint32_t b)
{
	struct str x = { "", 0 }, y = { "", 0 };
	int r;

	if (a != REPORT_NO_CALLER)
		x = profile_name(p, a);
	if (b != REPORT_NO_CALLER)
		y = profile_name(p, b);
	r = memcmp(x.p, y.p, x.n < y.n ? x.n : y.n);
	return r ? r : x.n != y.n ? (x.n < y.n ? -1 : 1) : a < b ? -1 : a > b;
}

static int compare(const void *a, const void *b, void *data)
{
	const struct report_edge *x = a, *y = b;
	const struct order *o = data;

	if (x->values[o->column] != y->values[o->column])
		return x->values[o->column] > y->values[o->column] ? -1 : 1;
	if (o->calls != UINT32_MAX && x->values[o->calls] != y->values[o->calls])
		return x->values[o->calls] > y->values[o->calls] ? -1 : 1;
	return compare_names(o->p, x->frame, y->frame);
}

void report_edges(const struct profile *p, const bool *of, enum report_direction direction, uint32_t column,
		  struct report_edges *ret)
{
	_cleanup_(freep) uint32_t *to = belongings(p, of, direction);
	_cleanup_(freep) uint32_t *place = xcalloc((size_t)p->frame_count + 1, sizeof(*place));
	struct gathering g = { ret, place, p->frame_count, 0 };
	struct order order = { p, column, profile_find_column(p, "calls") };

	*ret = (struct report_edges){ 0 };
	gather_values(&g, p, of, to, order.calls);
	if (order.calls != UINT32_MAX)
		gather_calls(&g, p, of, direction, order.calls);
	gather_again(ret, p, of, order.calls);
	if (ret->count)
		qsort_r(ret->edges, ret->count, sizeof(*ret->edges), compare, &order);
}

void report_edges_done(struct report_edges *e)
{
	free(e->edges);
	*e = (struct report_edges){ 0 };
}
