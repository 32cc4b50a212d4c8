/* edges.h: the second form of a profile: exact values per pair of caller and callee.
 *
 * xhprof, tideways_xhprof, uprofiler and callgrind do not record stacks, only how often one function called another,
 * and the time of those calls. A tree built from pairs is an estimate; the pairs are exact. A profile that was read
 * from such a file has both: the tree for pictures, the edges for exact values.
 *
 * A node is a function at one level of recursion: level 0 is its outermost call on a stack, 1 the first call within
 * that (xhprof's foo@1, callgrind's foo'2). Values are those of the profile's columns, by their numbers:
 *
 *	pair	total value of its calls, with everything below; number of calls if they were counted
 *	node	self value; number of calls if they were counted
 *
 * Node 0 is the root, which has no frame: it is the caller of functions without a caller.
 *
 * A node that is `once` occurs at most once in any stack, so its total is the sum of the pairs that lead to it. If
 * all nodes are, the edges have levels. For other nodes this is only true if no calls lead back to them: see edges_sums.
 */
#ifndef PROFILE_EDGES_H
#define PROFILE_EDGES_H

#include "profile.h"

#define EDGES_ROOT 0u

struct edges_node {
	uint32_t frame;			/* UINT32_MAX: the root */
	uint32_t level;
	bool once;
	int64_t self[PROFILE_COLUMNS];
};

struct edges_pair {
	uint32_t caller, callee;	/* nodes */
	uint32_t stacks;		/* in a tree: number of nodes for this pair; else 0 */
	int64_t value[PROFILE_COLUMNS];
};

/* Read it and add to values directly; use the functions below to add nodes and pairs. */
struct edges {
	bool levels;			/* all nodes are once */
	struct edges_node *nodes;
	uint32_t node_count;		/* at least 1 */
	struct edges_pair *pairs;
	uint32_t pair_count;

	/* private */
	size_t node_capacity, pair_capacity;
	struct map by_node, by_pair;
};

struct edges *edges_new(void);				/* with levels */
struct edges *edges_free(struct edges *e);		/* NULL is fine; returns NULL */

/* Notes that a node may occur twice in a stack. */
void edges_not_once(struct edges *e, uint32_t node);

/* Finds or adds a node, which is once; pointers into the arrays are invalid after the next such call. */
uint32_t edges_node(struct edges *e, uint32_t frame, uint32_t level);
uint32_t edges_pair(struct edges *e, uint32_t caller, uint32_t callee);

/* --- From a profile in either form --- */

enum edges_identity {
	EDGES_BY_FRAME,
	EDGES_BY_NAME_AND_FILE,		/* functions that differ only in their line become the first one */
	EDGES_BY_NAME,
};

struct edges_options {
	enum edges_identity by;
	bool above_zero;		/* treat negative values as zero */
	const char *root;		/* name of the root: a function with that name is one level deeper */
	uint32_t column;		/* use only this column and those that count calls; UINT32_MAX is all */
	uint32_t *ret_nodes, *ret_pairs;	/* if not NULL: by node of the tree, the node and pair that it is
						 * added to; only if the profile has no edges */
};

/* Makes edges from those of the profile, or else from its tree; the latter have levels. The caller frees. */
struct edges *edges_of(const struct profile *p, const struct edges_options *o);

/* --- Merging into other profiles --- */

/* Adds edges to `into`: columns[c] is the target of each of the `column_count` columns of `from` (UINT32_MAX: none),
 * factor is the multiplier of its values (NULL: 1), and frames[f] is the target of a frame. With `fold`, all levels
 * of a function become one, which is needed if frames of `from` are merged. */
struct edges_places {
	const uint32_t *columns, *frames;
	const int64_t *factors;
	uint32_t column_count;
	bool fold;
};

void edges_add(struct edges *into, const struct edges *from, const struct edges_places *to);

/* Multiplies the values of a column, with saturation, and writes the result to the same or another column. */
void edges_scale(struct edges *e, uint32_t from, uint32_t to, int64_t numerator, int64_t denominator);

/* Sets column `to` to `from` - `less`. */
void edges_subtract(struct edges *e, uint32_t from, uint32_t less, uint32_t to);

/* --- Sums --- */

/* By frame of the profile. In totals, a recursive function counts once per stack. */
struct edges_sums {
	int64_t (*self)[PROFILE_COLUMNS], (*total)[PROFILE_COLUMNS];
	bool *at_most;			/* its total is unknown, and this is an upper limit, unless there are negative
					 * values */
	bool *known;			/* it occurs among the edges */
};

void edges_sums(const struct profile *p, struct edges_sums *ret);
void edges_sums_done(struct edges_sums *s);

/* Returns the sum of all self values: exact if the profile has edges. The sum of the tree may differ if functions
 * call each other in a cycle. */
int64_t edges_total(const struct profile *p, uint32_t column);

/* Returns the number of each node's cycle: nodes with the same number can reach each other. The caller frees. */
uint32_t *edges_cycles(const struct edges *e);

/* Tells whether calls form a cycle through nodes that are not once. */
bool edges_are_circular(const struct edges *e);

/* Marks the nodes that can reach a node for which `is` is true, including those; the caller frees. */
bool *edges_reaching(const struct edges *e, const bool *is);

#endif
