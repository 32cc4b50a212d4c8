/* callgraph_fit.c: sends several sizes of one graph to the child together. */

#include "callgraph_fit.h"

#include "mem.h"

#include <math.h>
#include <string.h>

static const struct attempt {
	size_t max_nodes;
	bool plain;
} attempts[] = {
	{ 12, true }, { 40, true }, { SIZE_MAX, false },
};

#define REQUESTED (ARRAY_SIZE(attempts) - 1)

/* Replaces the requested graph if that is hopeless: the first of these that is not hopeless, or else the last. */
static const struct attempt reduced[] = { { CALLGRAPH_NODES, false }, { 100, true } };

struct graph_try {
	struct buf dot;
	struct callgraph_counts counts;
};

static void put_try(struct graph_try *t, const struct callgraph *graph, size_t max_nodes, const struct attempt *a)
{
	buf_reset(&t->dot);
	callgraph_put(graph, max_nodes < a->max_nodes ? max_nodes : a->max_nodes, a->plain, &t->dot, &t->counts);
}

/* Layout time grows faster than the square of the number of edges: 200 labeled edges take a second, 600 take ten.
 * Graphs that cannot be ready in time are not attempted. */
static bool is_hopeless(const struct callgraph_counts *c, double seconds)
{
	return (double)c->edges_shown > 200 * sqrt(seconds);
}

/* Writes the requested graph, or a reduced one that can be ready in time. Returns the one that was chosen. */
static struct attempt put_requested(struct graph_try *t, const struct callgraph *graph, size_t max_nodes, double seconds)
{
	struct attempt a = attempts[REQUESTED];

	put_try(t, graph, max_nodes, &a);
	for (size_t i = 0; i < ARRAY_SIZE(reduced) && is_hopeless(&t->counts, seconds); i++) {
		a = reduced[i];
		put_try(t, graph, max_nodes, &a);
	}
	return a;
}

int callgraph_fit_draw(struct graphviz *graphviz, const struct callgraph *graph, size_t max_nodes, double seconds,
		       int64_t end_ns, struct buf *picture, struct callgraph_fit *ret, struct err *err)
{
	struct graph_try tries[ARRAY_SIZE(attempts)] = { 0 };
	const char *dots[ARRAY_SIZE(attempts)];
	struct attempt requested;
	int chosen;

	*ret = (struct callgraph_fit){ 0 };
	for (size_t i = 0; i < ARRAY_SIZE(attempts); i++)
		buf_init(&tries[i].dot);
	for (size_t i = 0; i < REQUESTED; i++)
		put_try(&tries[i], graph, max_nodes, &attempts[i]);
	requested = put_requested(&tries[REQUESTED], graph, max_nodes, seconds);
	for (size_t i = 0; i < ARRAY_SIZE(attempts); i++)
		dots[i] = tries[i].dot.data;
	chosen = graphviz_draw(graphviz, dots, ARRAY_SIZE(attempts), end_ns, picture, err);
	if (chosen >= 0) {
		ret->counts = tries[chosen].counts;
		ret->reduced = (size_t)chosen != REQUESTED || requested.max_nodes != attempts[REQUESTED].max_nodes;
		ret->plain = (size_t)chosen != REQUESTED || requested.plain;
		snprintf(ret->why, sizeof(ret->why), "%s",
			 (size_t)chosen != REQUESTED ? err->text : "laying the graph out would take too long");
	}
	for (size_t i = 0; i < ARRAY_SIZE(attempts); i++)
		buf_done(&tries[i].dot);
	return chosen;
}
