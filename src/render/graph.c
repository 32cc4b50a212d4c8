/* graph.c: computes sums by function and by caller and callee, and chooses what is shown. */

#include "graph.h"

#include "mem.h"
#include "saturate.h"
#include "walk.h"

#include <string.h>

#define EDGES_PER_NODE 2	/* drawn edges per node; more would be unreadable */

/* Sums while the tree is walked. */
struct summing {
	const struct profile *p;
	struct graph *g;
	struct map edges;		/* caller and callee -> index of the edge */
	uint32_t *open_edges;		/* by edge: how often it is on the current stack */
	uint32_t *open_nodes;		/* by frame, the same */
	size_t edge_capacity, open_capacity;
	const int64_t *totals, *calls;
	bool of_calls;			/* the column is "calls", whose totals are meaningless */
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

/* Nodes are indexed by frame, edges in any order. */
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
		n->calls = 0;	/* the same number, or only one side's */
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

/* Keeps edges between nodes that stay: `places` has the new numbers of nodes, plus one. */
static void renumber(struct graph *g, const uint32_t *places)
{
	size_t n = 0;

	for (size_t i = 0; i < g->edge_count; i++) {
		struct graph_edge e = g->edges[i];

		if (!places[e.from] || !places[e.to])
			continue;
		e.from = places[e.from] - 1;
		e.to = places[e.to] - 1;
		g->edges[n++] = e;
	}
	g->edge_count = n;
}

static void drop_empty_edges(struct graph *g)
{
	size_t n = 0;

	for (size_t i = 0; i < g->edge_count; i++)
		if (g->edges[i].weight > 0 || g->edges[i].calls > 0)
			g->edges[n++] = g->edges[i];
	g->all_edges = g->edge_count = n;
}

static void prune_nodes(struct graph *g, int64_t least)
{
	_cleanup_(freep) uint32_t *places = xcalloc(g->node_count + 1, sizeof(*places));

	for (size_t i = 0; i < g->node_count && g->nodes[i].weight > 0; i++) {
		g->all_nodes++;
		if (g->nodes[i].weight >= least)
			places[g->nodes[i].frame] = (uint32_t)++g->wanted_nodes;
	}
	g->node_count = g->wanted_nodes;
	renumber(g, places);
}

/* Marks, by edge, whether it is drawn. The caller frees. */
static bool *choose_edges(const struct graph *g, int64_t least)
{
	_cleanup_(freep) bool *reached = xcalloc(g->node_count + 1, sizeof(*reached));
	bool *chosen = xcalloc(g->edge_count + 1, sizeof(*chosen));
	size_t n = 0, room = EDGES_PER_NODE * g->node_count;

	/* The heaviest come first, so the first edge to a node is its heaviest. */
	for (size_t i = 0; i < g->edge_count; i++) {
		const struct graph_edge *e = &g->edges[i];
		bool way_in = !reached[e->to] && e->from != e->to;

		if (!way_in && !e->critical && (e->weight < least || n >= room))
			continue;
		if (way_in)
			reached[e->to] = true;
		chosen[i] = true;
		n++;
	}
	return chosen;
}

static void prune_edges(struct graph *g, int64_t least)
{
	_cleanup_(freep) bool *chosen = choose_edges(g, least);
	size_t n = 0;

	for (size_t i = 0; i < g->edge_count; i++)
		if (chosen[i])
			g->edges[n++] = g->edges[i];
	g->edge_count = n;
}

/* The chosen edges at each node, heaviest first: indices plus one, 0 at the end. */
struct edge_lists {
	uint32_t *first;		/* by node */
	uint32_t *next;			/* by edge */
};

static void edge_lists_init(struct edge_lists *l, const struct graph *g, const bool *chosen, bool up)
{
	l->first = xcalloc(g->node_count + 1, sizeof(*l->first));
	l->next = xcalloc(g->edge_count + 1, sizeof(*l->next));
	for (size_t i = g->edge_count; i--;)
		if (chosen[i]) {
			uint32_t node = up ? g->edges[i].to : g->edges[i].from;

			l->next[i] = l->first[node];
			l->first[node] = (uint32_t)i + 1;
		}
}

static void edge_lists_done(struct edge_lists *l)
{
	free(l->first);
	free(l->next);
}

/* Marks the path from `node` along the heaviest edges to nodes that are not on it yet, and appends these to `path`. */
static size_t follow(struct graph *g, const bool *chosen, uint32_t node, bool up, uint32_t *path)
{
	_cleanup_(edge_lists_done) struct edge_lists lists = { 0 };
	size_t n = 0;

	edge_lists_init(&lists, g, chosen, up);
	for (uint32_t i = lists.first[node]; i;) {
		struct graph_edge *e = &g->edges[i - 1];
		uint32_t end = up ? e->from : e->to;

		if (g->nodes[end].critical) {
			i = lists.next[i - 1];
			continue;
		}
		e->critical = g->nodes[end].critical = true;
		path[n++] = end;
		i = lists.first[end];
	}
	return n;
}

/* Marks the path from the node with the largest value up to its callers, and down. `path` gets its nodes from the top. */
static size_t mark_critical(struct graph *g, int64_t least, uint32_t *path)
{
	_cleanup_(freep) bool *chosen = choose_edges(g, least);
	size_t up;

	if (!g->node_count)
		return 0;
	g->nodes[0].critical = true;
	up = follow(g, chosen, 0, true, path);
	for (size_t i = 0; i < up / 2; i++) {
		uint32_t node = path[i];

		path[i] = path[up - 1 - i];
		path[up - 1 - i] = node;
	}
	path[up] = 0;
	return up + 1 + follow(g, chosen, 0, false, path + up + 1);
}

/* Keeps the path, or as much of its top as fits, and then the heaviest nodes. */
static void limit_nodes(struct graph *g, size_t max_nodes, const uint32_t *path, size_t path_count)
{
	_cleanup_(freep) uint32_t *places = xcalloc(g->node_count + 1, sizeof(*places));
	size_t n = 0, room = max_nodes;

	if (g->node_count <= max_nodes)
		return;
	for (size_t i = 0; i < path_count && room; i++, room--)
		places[path[i]] = 1;
	for (size_t i = 0; i < g->node_count && room; i++)
		if (!places[i]) {
			places[i] = 1;
			room--;
		}
	for (size_t i = 0; i < g->node_count; i++)
		if (places[i]) {
			g->nodes[n++] = g->nodes[i];
			places[i] = (uint32_t)n;
		}
	g->node_count = n;
	renumber(g, places);
}

void graph_prune(struct graph *g, size_t max_nodes, int64_t least)
{
	_cleanup_(freep) uint32_t *path = xcalloc(g->node_count + 1, sizeof(*path));
	size_t path_count;

	drop_empty_edges(g);
	prune_nodes(g, least);
	path_count = mark_critical(g, least, path);
	limit_nodes(g, max_nodes, path, path_count);
	prune_edges(g, least);
}
