/* graph.h: a profile summed by function and by caller and callee, and pruned for drawing. The source is its tree or,
 * if present, its edges (edges.h), since the tree is then an estimate. */
#ifndef RENDER_GRAPH_H
#define RENDER_GRAPH_H

#include "profile.h"

struct graph_node {
	uint32_t frame;
	int64_t self, total, calls;	/* calls: 0 if they were not counted */
	int64_t self_before, total_before;	/* for a difference; 0 otherwise */
	int64_t self_measured, total_measured;	/* the same, unscaled */
	int64_t weight;			/* total, or the larger of both sides */
	bool at_most;			/* total is a limit */
	bool critical;
};

struct graph_edge {
	uint32_t from, to;		/* frames while summing; then indices of nodes */
	int64_t value, calls;
	int64_t before, measured;	/* for a difference, scaled and unscaled; 0 otherwise */
	int64_t weight;			/* value, or the larger of both sides */
	bool at_most;			/* value is a limit */
	bool critical;
};

/* Largest weight first; ties by self value and the names of frames, so that equal profiles give equal graphs. */
struct graph {
	struct graph_node *nodes;
	struct graph_edge *edges;
	size_t node_count, edge_count;
	size_t all_nodes, all_edges;	/* above zero, before pruning */
	size_t wanted_nodes;		/* heavy enough, including those beyond `max_nodes` */
};

void graph_init(struct graph *g, const struct profile *p, uint32_t column);

/* The same with the functions and arrows of both columns. */
void graph_init_difference(struct graph *g, const struct profile *p, uint32_t before, uint32_t after);

/* Does the work of graph_init for edges; `calls` is the column that counts calls, or UINT32_MAX. */
void graph_add_edges(struct graph *g, const struct profile *p, uint32_t column, uint32_t calls);
void graph_copy(struct graph *g, const struct graph *from);
void graph_done(struct graph *g);

/* Call once on a new graph: keeps nodes, and the edges between them, with at least `least`; but the heaviest edge to
 * a node is always kept, so that no called function is isolated. Marks the critical path: from the node with the
 * largest value up and down, always along the heaviest edge. If there are more than `max_nodes` nodes, keeps this
 * path, from the top, and the heaviest others. */
void graph_prune(struct graph *g, size_t max_nodes, int64_t least);

#endif
