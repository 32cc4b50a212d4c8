/* edges.h: the second form of a profile: exact values per pair of caller and callee.
 *
 * xhprof, tideways_xhprof, uprofiler and callgrind keep no stacks, only how often one function called another and what
 * those calls took. A tree built from pairs is an estimate; the pairs are exact. A profile that was read from such a
 * file has both: the tree for pictures, the edges for exact values.
 *
 * A node is a function at one level of recursion: level 0 is its outermost call on a stack, 1 the first call within
 * that (xhprof's foo@1, callgrind's foo'2). Values are those of the profile's columns, by their numbers:
 *
 *	pair	total value of its calls, with everything below; number of calls if they were counted
 *	node	self value; number of calls if they were counted
 *
 * Node 0 is the root, which has no frame: it is the caller of functions without one.
 *
 * A node that is `once` stands at most once in any stack, so its total is the sum of the pairs that lead to it. If all
 * nodes are, the edges have levels. For another node this holds only if no calls lead back to it, as edges_sums tells.
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
	uint32_t stacks;		/* in a tree: number of its nodes for this pair; else 0 */
	int64_t value[PROFILE_COLUMNS];
};

/* Open for reading and for adding to values; nodes and pairs come from the functions below. */
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

/* Says that a node may stand twice in a stack. */
void edges_not_once(struct edges *e, uint32_t node);

/* Finds or adds one, which is once; pointers into the arrays do not outlive the next of these calls. */
uint32_t edges_node(struct edges *e, uint32_t frame, uint32_t level);
uint32_t edges_pair(struct edges *e, uint32_t caller, uint32_t callee);

/* --- From a profile, whichever form it has --- */

enum edges_identity {
	EDGES_BY_FRAME,
	EDGES_BY_NAME_AND_FILE,		/* functions that differ only in their line are one: the first */
	EDGES_BY_NAME,
};

struct edges_options {
	enum edges_identity by;
	bool above_zero;		/* values below zero are taken for zero */
	const char *root;		/* the name of the root: a function of that name below it is a level deeper */
	uint32_t column;		/* only this one and those that count calls; UINT32_MAX is all */
	uint32_t *ret_nodes, *ret_pairs;	/* not NULL: by node of the tree, the node and pair that it adds to; only where the
						 * profile has no edges */
};

/* Makes edges of those of the profile, or else of its tree, which have levels. The caller frees. */
struct edges *edges_of(const struct profile *p, const struct edges_options *o);

/* --- As parts of other profiles --- */

/* Adds to `into`: columns[c] is the column there of each of the `column_count` columns of `from` (UINT32_MAX: none),
 * factor what its values are multiplied by, NULL 1; frames[f] is the frame there. With `fold` all levels of a function
 * become one, as where frames of `from` are one there. */
struct edges_places {
	const uint32_t *columns, *frames;
	const int64_t *factors;
	uint32_t column_count;
	bool fold;
};

void edges_add(struct edges *into, const struct edges *from, const struct edges_places *to);

/* Multiplies the values of a column, with saturation, and writes the result into another or the same. */
void edges_scale(struct edges *e, uint32_t from, uint32_t to, int64_t numerator, int64_t denominator);

/* Sets a column to what another one has more than a third. */
void edges_subtract(struct edges *e, uint32_t from, uint32_t less, uint32_t to);

/* --- Sums --- */

/* By frame of the profile. Total counts a recursive function once per stack. */
struct edges_sums {
	int64_t (*self)[PROFILE_COLUMNS], (*total)[PROFILE_COLUMNS];
	bool *at_most;			/* its total is not determined: it is no more than that, unless values are below
					 * zero */
	bool *known;			/* it stands among the edges at all */
};

void edges_sums(const struct profile *p, struct edges_sums *ret);
void edges_sums_done(struct edges_sums *s);

/* Everything that was taken, by what functions took themselves: exact where the profile has edges. The tree's sum may differ from
 * it where functions call each other in a circle. */
int64_t edges_total(const struct profile *p, uint32_t column);

/* The circle that each node belongs to: nodes of one number can reach each other. The caller frees. */
uint32_t *edges_circles(const struct edges *e);

/* Whether there are calls in a circle through nodes that are not once. */
bool edges_are_circular(const struct edges *e);

/* Marks the nodes that can reach one for which `is` is true, including these; the caller frees. */
bool *edges_reaching(const struct edges *e, const bool *is);

#endif
