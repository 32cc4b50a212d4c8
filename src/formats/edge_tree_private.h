/* edge_tree_private.h: the tree of edge_tree.c while it is built, for edge_tree_share.c. */
#ifndef FORMATS_EDGE_TREE_PRIVATE_H
#define FORMATS_EDGE_TREE_PRIVATE_H

#include "edge_list_private.h"
#include "profile.h"

/* A function, as the sum over all its callers. */
struct edge_tree_function {
	uint32_t first;			/* first edge to a callee; UINT32_MAX if it called nothing */
	uint32_t frame;			/* frame in the profile */
	bool is_callee, is_top, reached, opened;
	bool uneven[EDGE_LIST_COLUMNS];	/* some callers gave it a negative value, so that shares are undefined */
	int64_t value[EDGE_LIST_COLUMNS];	/* inclusive */
	int64_t done[EDGE_LIST_COLUMNS];	/* sums of the places expanded so far */
	struct edge *callees;		/* sum of its edges; NULL until used */
};

/* A place in the tree that may be expanded. */
struct edge_tree_place {
	uint32_t node, parent, function;	/* parent: a place, UINT32_MAX at the top */
	int64_t value[EDGE_LIST_COLUMNS];		/* inclusive */
};

struct edge_tree_building {
	const struct edge_list *edges;
	struct profile *profile;
	struct edge_tree_function *functions;
	uint32_t *next;			/* by edge: the next one of the same caller */
	struct edge_tree_place *places;
	size_t count, capacity;
	uint32_t *heap;			/* places to expand, the largest first */
	size_t heap_count, heap_capacity;
	uint32_t columns[EDGE_LIST_COLUMNS], off_cpu;
	unsigned width;			/* the column that determines the size of places */
	unsigned wall, cpu;		/* columns; both or UINT_MAX */
	uint32_t folded;		/* frame; UINT32_MAX until first used */
	uint32_t nodes;			/* nodes created here */
	uint32_t visits;			/* visits of edges */
	bool estimated;
};

/* Adds self values to a node, and the difference of wall and CPU time. */
void edge_tree_add_values(struct edge_tree_building *t, uint32_t node, const int64_t *self);

bool edge_tree_is_zero(const struct edge_tree_building *t, const int64_t *value);

/* Returns the node of folded calls below `node`, creating it on first use. */
uint32_t edge_tree_folded_child(struct edge_tree_building *t, uint32_t node);

/* Distributes the measured self values of functions over the tree. */
void edge_tree_share_own(struct edge_tree_building *t);

/* Distributes the calls of each function over the tree. */
void edge_tree_share_calls(struct edge_tree_building *t);

#endif
