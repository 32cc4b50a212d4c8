/* graph_edges.c: the graph of a profile whose exact form is pairs of caller and callee: boxes are the sums shown in
 * report's tables, arrows are the pairs, with all levels of recursion merged.
 *
 * The time of the calls of an arrow counts once per stack. If a function calls itself, calls below others of the same
 * arrow are left out. If two functions call each other, pairs do not tell which calls are nested: the arrow is at
 * most the sum, and at most the total of either function. */

#include "graph.h"

#include "edges.h"
#include "mem.h"
#include "saturate.h"

struct adding {
	const struct profile *p;
	struct graph *g;
	struct map arrows;		/* caller and callee, as frames -> index of the edge */
	size_t capacity;
	uint32_t column, calls;
	const uint32_t *cycle;		/* by node of the folded edges */
	const uint32_t *folded;		/* by frame: its node there */
	const bool *below_itself;	/* by node: only called by the function itself */
};

static void add_nodes(struct graph *g, const struct profile *p, uint32_t column, uint32_t calls,
		      const struct edges_sums *sums)
{
	for (uint32_t f = 0; f < p->frame_count; f++)
		g->nodes[f] = (struct graph_node){
			.frame = f, .self = sums->self[f][column], .total = sums->total[f][column],
			.calls = calls == UINT32_MAX ? 0 : sums->self[f][calls],
			.at_most = sums->at_most[f] && column != calls,
		};
}

static struct graph_edge *arrow_of(struct adding *a, uint32_t from, uint32_t to)
{
	uint32_t *slot = map_slot(&a->arrows, map_pair(from, to));
	struct graph *g = a->g;

	if (*slot == MAP_NONE) {
		*slot = (uint32_t)g->edge_count;
		GROW(&g->edges, &a->capacity, g->edge_count + 1);
		g->edges[g->edge_count++] = (struct graph_edge){ .from = from, .to = to };
	}
	return &g->edges[*slot];
}

static void add_pair(struct adding *a, const struct edges_pair *pair)
{
	const struct edges_node *caller = &a->p->edges->nodes[pair->caller], *callee = &a->p->edges->nodes[pair->callee];
	struct graph_edge *arrow = arrow_of(a, caller->frame, callee->frame);
	bool of_calls = a->column == a->calls;

	if (a->calls != UINT32_MAX)
		saturating_add(&arrow->calls, pair->value[a->calls]);
	if (!of_calls && caller->frame == callee->frame && a->below_itself[pair->caller])
		return;
	/* Another pair of the same arrow, or the same one twice in a stack, is only possible in a cycle. */
	if (!of_calls && a->cycle[a->folded[caller->frame]] == a->cycle[a->folded[callee->frame]])
		arrow->at_most |= arrow->value || !caller->once || !callee->once;
	saturating_add(&arrow->value, pair->value[a->column]);
}

/* Limits an arrow to the totals of its ends. */
static void limit(struct graph_edge *arrow, const struct graph *g)
{
	for (int end = 0; end < 2; end++) {
		int64_t most = g->nodes[end ? arrow->to : arrow->from].total;

		if (arrow->at_most && most < arrow->value)
			arrow->value = most;
	}
}

static bool *only_by_themselves(const struct edges *e)
{
	bool *is = xcalloc(e->node_count, sizeof(*is));

	for (uint32_t i = 0; i < e->pair_count; i++)
		is[e->pairs[i].callee] = true;
	for (uint32_t i = 0; i < e->pair_count; i++)
		if (e->pairs[i].caller == EDGES_ROOT ||
		    e->nodes[e->pairs[i].caller].frame != e->nodes[e->pairs[i].callee].frame)
			is[e->pairs[i].callee] = false;
	return is;
}

/* Returns the same edges with one node per function. The caller frees. */
static struct edges *fold(const struct profile *p, uint32_t **ret_nodes)
{
	uint32_t *nodes = xcalloc((size_t)p->frame_count + 1, sizeof(*nodes));
	const struct edges *from = p->edges;
	struct edges *e = edges_new();

	for (uint32_t n = 1; n < from->node_count; n++)
		nodes[from->nodes[n].frame] = edges_node(e, from->nodes[n].frame, 0);
	for (uint32_t i = 0; i < from->pair_count; i++)
		if (from->pairs[i].caller != EDGES_ROOT)
			edges_pair(e, nodes[from->nodes[from->pairs[i].caller].frame],
				   nodes[from->nodes[from->pairs[i].callee].frame]);
	*ret_nodes = nodes;
	return e;
}

void graph_add_edges(struct graph *g, const struct profile *p, uint32_t column, uint32_t calls)
{
	const struct edges *e = p->edges;
	_cleanup_(edges_sums_done) struct edges_sums sums = { 0 };
	_cleanup_(freep) uint32_t *folded = NULL, *cycle = NULL;
	_cleanup_(freep) bool *below_itself = only_by_themselves(e);
	struct edges *functions = fold(p, &folded);
	struct adding a = { .p = p, .g = g, .column = column, .calls = calls,
			    .folded = folded, .below_itself = below_itself };

	a.cycle = cycle = edges_cycles(functions);
	edges_free(functions);
	edges_sums(p, &sums);
	add_nodes(g, p, column, a.calls, &sums);
	map_init(&a.arrows);
	for (uint32_t i = 0; i < e->pair_count; i++)
		if (e->pairs[i].caller != EDGES_ROOT)
			add_pair(&a, &e->pairs[i]);
	map_done(&a.arrows);
	for (size_t i = 0; i < g->edge_count; i++)
		limit(&g->edges[i], g);
}
