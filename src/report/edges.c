/* edges.c: callers and callees of a function. */

#include "report.h"

#include "edges.h"
#include "mem.h"
#include "saturate.h"

#include <string.h>

/* Identifies the edge that gets a node's own values, by the stack above: a frame number, or one of these: */
#define OUTSIDE	UINT32_MAX		/* the function is not on the stack */
#define ITSELF	(UINT32_MAX - 1)	/* the function itself is the leaf */
#define ROOT	(UINT32_MAX - 2)	/* the function has no caller */

static uint32_t caller_of(const struct profile *p, uint32_t node)
{
	return p->parents[node] == PROFILE_ROOT ? ROOT : p->node_frames[p->parents[node]];
}

/* Computed by node from its parent, which has a smaller number. */
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

/* Collects edges. */
struct gathering {
	struct report_edges *e;
	uint32_t *place;		/* index of the edge + 1, by frame and one more for the root */
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

/* Adds all columns except counts of calls. */
static void add_values(int64_t *sums, const struct profile *p, uint32_t node)
{
	for (uint32_t c = 0; c < p->column_count; c++)
		if (!p->columns[c].counts_calls)
			saturating_add(&sums[c], p->columns[c].self[node]);
}

static void gather_values(struct gathering *g, const struct profile *p, const bool *of, const uint32_t *to)
{
	for (uint32_t n = 1; n < p->node_count; n++) {
		if (to[n] == OUTSIDE || !profile_has_values(p, n))
			continue;
		add_values(g->e->total, p, n);
		if (of[p->node_frames[n]])
			add_values(g->e->self, p, n);
		if (to[n] != ITSELF)
			add_values(edge(g, to[n])->values, p, n);
	}
}

/* Adds each call to one edge, recursive calls included. */
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

static void gather_again(struct report_edges *e, const struct profile *p, const bool *of)
{
	_cleanup_(freep) uint8_t *times = xcalloc(p->node_count, sizeof(*times));

	for (uint32_t n = 1; n < p->node_count; n++) {
		times[n] = times[p->parents[n]];
		if (of[p->node_frames[n]] && times[n] < 2)
			times[n]++;
		if (times[n] == 2)
			add_values(e->again, p, n);
	}
}

/* --- Profiles with edges --- */

/* The nodes of the selected function. If several functions share the name, their recursion levels cannot be
 * combined. */
struct selection {
	const struct profile *p;
	const struct edges *e;
	bool *is;			/* by node */
	bool *again, *second;		/* by node: a call of it is inside another one; inside the outermost one only */
	bool *leads_back;		/* by node: its subtree may be inside another call of the function */
	uint32_t *cycle;		/* by node: group of mutually recursive functions; NULL if levels suffice */
	bool several, once;		/* several functions are selected; the outermost level is called once */
};

static uint32_t least_level(const struct edges *e, uint32_t frame)
{
	uint32_t least = UINT32_MAX;

	for (uint32_t n = 1; n < e->node_count; n++)
		if (e->nodes[n].frame == frame && e->nodes[n].level < least)
			least = e->nodes[n].level;
	return least;
}

static void find_again(struct selection *a, const bool *of)
{
	uint32_t frames = 0;

	for (uint32_t f = 0; f < a->p->frame_count; f++) {
		uint32_t least = of[f] ? least_level(a->e, f) : 0;

		frames += of[f] && least != UINT32_MAX;
		for (uint32_t n = 1; of[f] && n < a->e->node_count; n++)
			if (a->e->nodes[n].frame == f) {
				a->is[n] = true;
				a->again[n] = a->e->nodes[n].level > least;
				a->second[n] = a->e->nodes[n].level == least + 1;
				a->once &= a->again[n] || a->e->nodes[n].once;
			}
	}
	a->several = frames > 1;
	a->leads_back = edges_reaching(a->e, a->several || !a->once ? a->is : a->again);
}

static void selection_init(struct selection *a, const struct profile *p, const bool *of)
{
	*a = (struct selection){ .p = p, .e = p->edges, .once = true };
	a->is = xcalloc(a->e->node_count, sizeof(*a->is));
	a->again = xcalloc(a->e->node_count, sizeof(*a->again));
	a->second = xcalloc(a->e->node_count, sizeof(*a->second));
	a->cycle = a->e->levels ? NULL : edges_cycles(a->e);
	find_again(a, of);
}

static void selection_done(struct selection *a)
{
	free(a->is);
	free(a->again);
	free(a->second);
	free(a->leads_back);
	free(a->cycle);
}

static void add_pair(const struct selection *a, int64_t *sums, const struct edges_pair *pair)
{
	for (uint32_t c = 0; c < a->p->column_count; c++)
		if (!a->p->columns[c].counts_calls)
			saturating_add(&sums[c], pair->value[c]);
}

/* Whether the pair has calls, which belong to one edge even if recursive. */
static bool has_calls(const struct selection *a, const struct edges_pair *pair)
{
	for (uint32_t c = 0; c < a->p->column_count; c++)
		if (a->p->columns[c].counts_calls && pair->value[c])
			return true;
	return false;
}

static void add_calls(const struct selection *a, int64_t *sums, const struct edges_pair *pair)
{
	for (uint32_t c = 0; c < a->p->column_count; c++)
		if (a->p->columns[c].counts_calls)
			saturating_add(&sums[c], pair->value[c]);
}

/* Whether this call may be inside another call of the function. */
static bool may_be_inner(const struct selection *a, const struct edges_pair *pair, bool total_at_most)
{
	if (a->several)
		return total_at_most;
	return !a->once && a->cycle[pair->caller] == a->cycle[pair->callee];
}

static struct report_edge *edge_to(struct gathering *g, const struct selection *a, uint32_t node)
{
	return edge(g, node == EDGES_ROOT ? ROOT : a->e->nodes[node].frame);
}

static void gather_callers(struct gathering *g, const struct selection *a)
{
	for (uint32_t i = 0; i < a->e->pair_count; i++) {
		const struct edges_pair *pair = &a->e->pairs[i];
		bool inner = a->again[pair->callee] || a->is[pair->caller];
		struct report_edge *to;

		if (!a->is[pair->callee])
			continue;
		if (inner && !has_calls(a, pair))
			continue;
		to = edge_to(g, a, pair->caller);
		add_calls(a, to->values, pair);
		if (inner)
			continue;
		add_pair(a, to->values, pair);
		to->at_most |= may_be_inner(a, pair, g->e->total_at_most);
	}
}

static void gather_callees(struct gathering *g, const struct selection *a)
{
	for (uint32_t i = 0; i < a->e->pair_count; i++) {
		const struct edges_pair *pair = &a->e->pairs[i];
		struct report_edge *to;

		if (!a->is[pair->caller])
			continue;
		if (a->is[pair->callee] && !has_calls(a, pair))
			continue;
		to = edge_to(g, a, pair->callee);
		add_calls(a, to->values, pair);
		if (a->is[pair->callee])
			continue;
		add_pair(a, to->values, pair);
		to->at_most |= a->leads_back[pair->callee];
	}
}

/* Adds the values of second-level calls, all of which are inside a second call. If those may nest further, the sum is
 * only a limit. */
static void gather_inner(struct report_edges *r, const struct selection *a)
{
	for (uint32_t i = 0; i < a->e->pair_count; i++) {
		const struct edges_pair *pair = &a->e->pairs[i];
		bool inner = a->is[pair->callee] && (a->is[pair->caller] || may_be_inner(a, pair, r->total_at_most));

		if (!a->second[pair->callee] && !(inner && (a->several || !a->once)))
			continue;
		add_pair(a, r->again, pair);
		r->again_at_most |= a->several || !a->e->nodes[pair->callee].once;
	}
}

static void cut(int64_t *values, const int64_t *most, const struct profile *p)
{
	for (uint32_t c = 0; c < p->column_count; c++)
		if (!p->columns[c].counts_calls && most[c] >= 0 && values[c] > most[c])
			values[c] = most[c];
}

static void subtract(int64_t *values, const int64_t *less, uint32_t columns)
{
	for (uint32_t c = 0; c < columns; c++)
		values[c] = saturating_difference(values[c], less[c]);
}

/* Callees and self add up to the total, so the remainder belongs to edges that are only limits: exactly if there is
 * one. */
static void share_rest(struct report_edges *r, const struct profile *p)
{
	struct report_edge *last = NULL;
	int64_t rest[PROFILE_COLUMNS];
	size_t open = 0;

	memcpy(rest, r->total, sizeof(rest));
	subtract(rest, r->self, p->column_count);
	for (size_t i = 0; i < r->count; i++)
		if (r->edges[i].at_most) {
			last = &r->edges[i];
			open++;
		} else {
			subtract(rest, r->edges[i].values, p->column_count);
		}
	for (size_t i = 0; i < r->count && open; i++)
		if (r->edges[i].at_most)
			cut(r->edges[i].values, rest, p);
	if (open != 1 || r->total_at_most)
		return;
	for (uint32_t c = 0; c < p->column_count; c++)
		last->values[c] = p->columns[c].counts_calls ? last->values[c] : rest[c];
	last->at_most = false;
}

static void gather_sums(struct report_edges *r, const struct selection *a, const bool *of)
{
	_cleanup_(edges_sums_done) struct edges_sums sums = { 0 };

	edges_sums(a->p, &sums);
	for (uint32_t f = 0; f < a->p->frame_count; f++) {
		if (!of[f])
			continue;
		for (uint32_t c = 0; c < a->p->column_count; c++) {
			saturating_add(&r->self[c], sums.self[f][c]);
			saturating_add(&r->total[c], sums.total[f][c]);
		}
		r->total_at_most |= sums.at_most[f];
	}
	for (uint32_t i = 0; i < a->e->pair_count && a->several; i++)
		r->total_at_most |= a->is[a->e->pairs[i].caller] && a->leads_back[a->e->pairs[i].callee];
	for (uint32_t c = 0; c < a->p->column_count && r->total_at_most; c++) {
		int64_t whole = a->p->columns[c].counts_calls ? INT64_MAX : report_whole(a->p, c);

		r->total[c] = r->total[c] > whole ? whole : r->total[c];
	}
}

static void gather_edges(struct gathering *g, const struct profile *p, const bool *of, enum report_direction direction)
{
	struct report_edges *r = g->e;
	_cleanup_(selection_done) struct selection a = { 0 };

	selection_init(&a, p, of);
	gather_sums(r, &a, of);
	if (direction == REPORT_CALLERS)
		gather_callers(g, &a);
	else
		gather_callees(g, &a);
	gather_inner(r, &a);
	if (r->again_at_most)
		cut(r->again, r->total, p);
	for (size_t i = 0; i < r->count && direction == REPORT_CALLERS; i++)
		if (r->edges[i].at_most)
			cut(r->edges[i].values, r->total, p);
	if (direction == REPORT_CALLEES)
		share_rest(r, p);
}

struct order {
	const struct profile *p;
	uint32_t column, calls;
};

static int compare_frames(const struct profile *p, uint32_t a, uint32_t b)
{
	if (a == REPORT_NO_CALLER || b == REPORT_NO_CALLER)
		return (b == REPORT_NO_CALLER) - (a == REPORT_NO_CALLER);
	return profile_compare_frames(p, a, b);
}

static int compare(const void *a, const void *b, void *data)
{
	const struct report_edge *x = a, *y = b;
	const struct order *o = data;

	if (x->values[o->column] != y->values[o->column])
		return x->values[o->column] > y->values[o->column] ? -1 : 1;
	if (o->calls != UINT32_MAX && x->values[o->calls] != y->values[o->calls])
		return x->values[o->calls] > y->values[o->calls] ? -1 : 1;
	return compare_frames(o->p, x->frame, y->frame);
}

static void gather_tree(struct gathering *g, const struct profile *p, const bool *of, enum report_direction direction)
{
	_cleanup_(freep) uint32_t *to = belongings(p, of, direction);

	gather_values(g, p, of, to);
	for (uint32_t c = 0; c < p->column_count; c++)
		if (p->columns[c].counts_calls)
			gather_calls(g, p, of, direction, c);
	gather_again(g->e, p, of);
}

void report_edges(const struct profile *p, const bool *of, enum report_direction direction, uint32_t column,
		  struct report_edges *ret)
{
	_cleanup_(freep) uint32_t *place = xcalloc((size_t)p->frame_count + 1, sizeof(*place));
	struct gathering g = { ret, place, p->frame_count, 0 };
	struct order order = { p, column, profile_find_column(p, "calls") };

	*ret = (struct report_edges){ 0 };
	if (p->edges)
		gather_edges(&g, p, of, direction);
	else
		gather_tree(&g, p, of, direction);
	if (ret->count)
		qsort_r(ret->edges, ret->count, sizeof(*ret->edges), compare, &order);
}

void report_edges_done(struct report_edges *e)
{
	free(e->edges);
	*e = (struct report_edges){ 0 };
}
