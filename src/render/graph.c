/* graph.c: sums by function and by caller and callee, and the choice of what is shown. */

#include "graph.h"

#include "mem.h"
#include "saturate.h"
#include "walk.h"

#include <string.h>

#define EDGES_PER_NODE 2	/* that are drawn at most; more is not readable */

/* Sums while the tree is walked. */
struct summing {
	const struct profile *p;
	struct graph *g;
	struct map edges;		/* caller and callee to number of edge */
	uint32_t *open_edges;		/* by edge: how often it is on the present stack */
	uint32_t *open_nodes;		/* by frame */
	size_t edge_capacity, open_capacity;
	const int64_t *totals, *calls;
	bool of_calls;			/* the column itself is "calls": there a total says nothing */
};

static int64_t larger(int64_t a, int64_t b)
{
	return a > b ? a : b;
}

static uint32_t edge_of(struct summing *s, uint32_t from, uint32_t to)
{
	uint32_t *slot = map_slot(&s->edges, map_pair(from, to));
	struct graph *g = s->g;

	if (*slot == MAP_NONE) {
		*slot = (uint32_t)g->edge_count;
		GROW(&g->edges, &s->edge_capacity, g->edge_count + 1);
		GROW(&s->open_edges, &s->open_capacity, g->edge_count + 1);
		s->open_edges[g->edge_count] = 0;
		g->edges[g->edge_count++] = (struct graph_edge){ .from = from, .to = to };
	}
	return *slot;
}

static void enter(struct summing *s, uint32_t node)
{
	const struct profile *p = s->p;
	uint32_t frame = p->node_frames[node], parent = p->parents[node], edge;
	bool first = s->open_nodes[frame]++ == 0;

	if (first || s->of_calls)
		saturating_add(&s->g->nodes[frame].total, s->totals[node]);
	if (s->calls)
		saturating_add(&s->g->nodes[frame].calls, s->calls[node]);
	if (parent == PROFILE_ROOT)
		return;
	edge = edge_of(s, p->node_frames[parent], frame);
	if (s->open_edges[edge]++ == 0 || s->of_calls)
		saturating_add(&s->g->edges[edge].value, s->totals[node]);
	if (s->calls)
		saturating_add(&s->g->edges[edge].calls, s->calls[node]);
}

static void leave(struct summing *s, uint32_t node)
{
	uint32_t frame = s->p->node_frames[node], parent = s->p->parents[node];

	s->open_nodes[frame]--;
	if (parent != PROFILE_ROOT)
		s->open_edges[edge_of(s, s->p->node_frames[parent], frame)]--;
}

static int compare_nodes(const void *a, const void *b, void *profile)
{
	const struct graph_node *x = a, *y = b;

	if (x->weight != y->weight)
		return x->weight > y->weight ? -1 : 1;
	if (x->self != y->self)
		return x->self > y->self ? -1 : 1;
	return profile_compare_frames(profile, x->frame, y->frame);
}

static int compare_edges(const void *a, const void *b, void *profile)
{
	const struct graph_edge *x = a, *y = b;

	if (x->weight != y->weight)
		return x->weight > y->weight ? -1 : 1;
	if (x->from != y->from)
		return profile_compare_frames(profile, x->from, y->from);
	return profile_compare_frames(profile, x->to, y->to);
}

static void add_tree(struct graph *g, const struct profile *p, uint32_t column, uint32_t calls)
{
	_cleanup_(freep) int64_t *totals = NULL;
	_cleanup_(freep) uint32_t *open_nodes = xcalloc((size_t)p->frame_count + 1, sizeof(*open_nodes));
	_cleanup_(walk_done) struct walk w = { 0 };
	struct summing s = { .p = p, .g = g, .open_nodes = open_nodes };

	s.of_calls = column == calls;
	if (!s.of_calls)
		totals = profile_totals(p, column);
	s.totals = s.of_calls ? p->columns[column].self : totals;
	s.calls = calls == UINT32_MAX ? NULL : p->columns[calls].self;
	map_init(&s.edges);
	for (uint32_t f = 0; f < p->frame_count; f++)
		g->nodes[f].frame = f;
	for (uint32_t n = 1; n < p->node_count; n++)
		saturating_add(&g->nodes[p->node_frames[n]].self, p->columns[column].self[n]);
	walk_init(&w, p);
	while (walk_next(&w))
		if (w.leaving)
			leave(&s, w.node);
		else
			enter(&s, w.node);
	map_done(&s.edges);
	free(s.open_edges);
}

/* Freed memory weighs as much as allocated memory. */
static int64_t size_of(int64_t v)
{
	return v >= 0 ? v : v == INT64_MIN ? INT64_MAX : -v;
}

/* Nodes stand by frame, edges in any order. */
static void sum_up(struct graph *g, const struct profile *p, uint32_t column, uint32_t calls)
{
	*g = (struct graph){ .node_count = p->frame_count };
	g->nodes = xcalloc((size_t)p->frame_count + 1, sizeof(*g->nodes));
	if (p->edges)
		graph_add_edges(g, p, column, calls);
	else
		add_tree(g, p, column, calls);
	for (size_t i = 0; i < g->node_count; i++)
		g->nodes[i].weight = larger(size_of(g->nodes[i].total), size_of(g->nodes[i].self));
	for (size_t i = 0; i < g->edge_count; i++)
		g->edges[i].weight = size_of(g->edges[i].value);
}

static void sort(struct graph *g, const struct profile *p)
{
	qsort_r(g->nodes, g->node_count, sizeof(*g->nodes), compare_nodes, (void *)p);
	if (g->edge_count)
		qsort_r(g->edges, g->edge_count, sizeof(*g->edges), compare_edges, (void *)p);
}

void graph_init(struct graph *g, const struct profile *p, uint32_t column)
{
	sum_up(g, p, column, profile_find_column(p, "calls"));
	sort(g, p);
}

static void add_nodes_before(struct graph *g, const struct graph *before, const struct profile_scaling *scaling)
{
	for (size_t i = 0; i < g->node_count; i++) {
		struct graph_node *n = &g->nodes[i];
		const struct graph_node *b = &before->nodes[i];

		n->self_measured = b->self;
		n->total_measured = b->total;
		n->self_before = profile_scaled(scaling, b->self);
		n->total_before = profile_scaled(scaling, b->total);
		n->weight = larger(n->weight, profile_scaled(scaling, b->weight));
		n->at_most |= b->at_most;
		n->calls = 0;	/* the number itself, or of one side only */
	}
}

static void add_edges_before(struct graph *g, const struct graph *before, const struct profile_scaling *scaling)
{
	size_t own = g->edge_count, capacity = own;
	struct map arrows;

	map_init(&arrows);
	for (size_t i = 0; i < own; i++) {
		*map_slot(&arrows, map_pair(g->edges[i].from, g->edges[i].to)) = (uint32_t)i;
		g->edges[i].calls = 0;
	}
	for (size_t i = 0; i < before->edge_count; i++) {
		const struct graph_edge *b = &before->edges[i];
		uint32_t *slot = map_slot(&arrows, map_pair(b->from, b->to));
		struct graph_edge *e;

		if (*slot == MAP_NONE) {
			*slot = (uint32_t)g->edge_count;
			GROW(&g->edges, &capacity, g->edge_count + 1);
			g->edges[g->edge_count++] = (struct graph_edge){ .from = b->from, .to = b->to };
		}
		e = &g->edges[*slot];
		e->measured = b->value;
		e->before = profile_scaled(scaling, b->value);
		e->weight = larger(e->weight, profile_scaled(scaling, b->weight));
		e->at_most |= b->at_most;
	}
	map_done(&arrows);
}

void graph_init_difference(struct graph *g, const struct profile *p, uint32_t before, uint32_t after)
{
	_cleanup_(graph_done) struct graph base = { 0 };
	uint32_t measured = profile_measured(p, before);

	sum_up(g, p, after, p->columns[after].counts_calls ? after : UINT32_MAX);
	sum_up(&base, p, measured, p->columns[before].counts_calls ? measured : UINT32_MAX);
	add_nodes_before(g, &base, &p->columns[before].scaling);
	add_edges_before(g, &base, &p->columns[before].scaling);
	sort(g, p);
}

void graph_copy(struct graph *g, const struct graph *from)
{
	*g = *from;
	g->nodes = xcalloc(from->node_count + 1, sizeof(*g->nodes));
	g->edges = xcalloc(from->edge_count + 1, sizeof(*g->edges));
	memcpy(g->nodes, from->nodes, from->node_count * sizeof(*g->nodes));
	if (from->edge_count)
		memcpy(g->edges, from->edges, from->edge_count * sizeof(*g->edges));
}

void graph_done(struct graph *g)
{
	free(g->nodes);
	free(g->edges);
	*g = (struct graph){ 0 };
}

/* Edges between nodes that stay, by the numbers of these. */
static void renumber(struct graph *g, size_t frame_count)
{
	_cleanup_(freep) uint32_t *place = xcalloc(frame_count + 1, sizeof(*place));
	size_t n = 0;

	for (size_t i = 0; i < g->node_count; i++)
		place[g->nodes[i].frame] = (uint32_t)i + 1;
	for (size_t i = 0; i < g->edge_count; i++) {
		struct graph_edge e = g->edges[i];

		if (e.weight <= 0 && e.calls <= 0)
			continue;
		g->all_edges++;
		e.from = place[e.from];
		e.to = place[e.to];
		if (!e.from || !e.to)
			continue;
		e.from--;
		e.to--;
		g->edges[n++] = e;
	}
	g->edge_count = n;
}

static void prune_edges(struct graph *g, int64_t least)
{
	_cleanup_(freep) bool *reached = xcalloc(g->node_count + 1, sizeof(*reached));
	size_t n = 0, room = EDGES_PER_NODE * g->node_count;

	/* The heaviest come first, so the first edge to a node is its heaviest. */
	for (size_t i = 0; i < g->edge_count; i++) {
		struct graph_edge e = g->edges[i];
		bool way_in = !reached[e.to] && e.from != e.to;

		if (!way_in && (e.weight < least || n >= room))
			continue;
		if (way_in)
			reached[e.to] = true;
		g->edges[n++] = e;
	}
	g->edge_count = n;
}

/* The heaviest edge from a node, or to it, whose other end is not yet on the way. */
static struct graph_edge *heaviest(struct graph *g, size_t node, bool up)
{
	for (size_t i = 0; i < g->edge_count; i++) {
		struct graph_edge *e = &g->edges[i];

		if ((up ? e->to : e->from) == node && !g->nodes[up ? e->from : e->to].critical)
			return e;
	}
	return NULL;
}

/* From the node that has most up to where it was called from, and down. */
static void mark_critical(struct graph *g)
{
	if (!g->node_count)
		return;
	g->nodes[0].critical = true;
	for (int up = 0; up < 2; up++) {
		struct graph_edge *e;

		for (size_t at = 0; (e = heaviest(g, at, up)); at = up ? e->from : e->to)
			e->critical = g->nodes[up ? e->from : e->to].critical = true;
	}
}

void graph_prune(struct graph *g, size_t max_nodes, int64_t least)
{
	size_t frame_count = g->node_count, n = 0;

	for (size_t i = 0; i < frame_count; i++) {
		if (g->nodes[i].weight <= 0)
			break;
		g->all_nodes++;
		n += i < max_nodes && g->nodes[i].weight >= least;
	}
	g->node_count = n;
	renumber(g, frame_count);
	prune_edges(g, least);
	mark_critical(g);
}
