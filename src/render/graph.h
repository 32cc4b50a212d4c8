/* graph.h: a profile summed up by function and by caller and callee, and what is drawn of it: its tree or, where it has
 * them, its edges (edges.h), as the tree is an estimate then. */
#ifndef RENDER_GRAPH_H
#define RENDER_GRAPH_H

#include "profile.h"

struct graph_node {
	uint32_t frame;
	int64_t self, total, calls;	/* calls: 0 if they were not counted */
	int64_t self_before, total_before;	/* for a difference; 0 otherwise */
	int64_t self_measured, total_measured;	/* the same without scale */
	int64_t weight;			/* total, or the larger of both sides */
	bool at_most;			/* total is a limit */
	bool critical;
};

struct graph_edge {
	uint32_t from, to;		/* frames while it is summed up; then numbers of nodes */
	int64_t value, calls;
	int64_t before, measured;	/* for a difference, with and without scale; 0 otherwise */
	int64_t weight;			/* value, or the larger of both sides */
	bool at_most;			/* value is a limit */
	bool critical;
};

/* Largest weight first; equal ones by self and the names of frames, so that equal profiles give equal graphs. */
struct graph {
	struct graph_node *nodes;
	struct graph_edge *edges;
	size_t node_count, edge_count;
	size_t all_nodes, all_edges;	/* above zero, before pruning */
	size_t wanted_nodes;		/* heavy enough, those beyond `max_nodes` too */
};

void graph_init(struct graph *g, const struct profile *p, uint32_t column);

/* The functions and arrows of both columns. */
void graph_init_difference(struct graph *g, const struct profile *p, uint32_t before, uint32_t after);

/* graph_init's part for edges; `calls` is the column that counts these, or UINT32_MAX. */
void graph_add_edges(struct graph *g, const struct profile *p, uint32_t column, uint32_t calls);
void graph_copy(struct graph *g, const struct graph *from);
void graph_done(struct graph *g);

/* Once, of a graph as graph_init makes it: keeps nodes and the edges between them, each of `least` at least; but the
 * heaviest edge to a node is kept, so that nothing stands alone that was called. Marks the critical path: from the node
 * that has most up and down, always along the heaviest edge. If there are more than `max_nodes` nodes, it keeps this
 * path, from the top on, and the heaviest others. */
void graph_prune(struct graph *g, size_t max_nodes, int64_t least);

#endif
