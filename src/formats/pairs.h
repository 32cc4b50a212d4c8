/* pairs.h: a call tree as xhprof and callgrind keep one: functions, and pairs of caller and callee.
 *
 * A function that stands several times in one stack is one function per level (xhprof's foo, foo@1, foo@2; callgrind's
 * foo, foo'2, foo'3). So no function stands below itself, and what the pairs that lead to it took is what it took, with
 * all that it called.
 */
#ifndef FORMATS_PAIRS_H
#define FORMATS_PAIRS_H

#include "profile.h"

#define PAIRS_ROOT 0u		/* the function that stands for the root; its frame is UINT32_MAX */

struct pairs {
	struct pairs_function {
		uint32_t frame;		/* of the profile; of equal ones the first */
		uint32_t level;		/* 0, or how many of them are above it */
	} *functions;
	uint32_t function_count;
	struct pairs_pair {
		uint32_t caller, callee, nodes;		/* nodes: how many of the tree this pair is */
	} *items;
	uint32_t count;

	/* Per column, NULL for those that were not asked for: by function what it took itself, and by pair what the
	 * calls took with all below, but of "calls" only how many they were. */
	int64_t *self[PROFILE_COLUMNS], *inclusive[PROFILE_COLUMNS];

	/* private */
	size_t function_capacity, capacity;
};

struct pairs_options {
	bool by_file;			/* one name in two files is two functions */
	bool above_zero;		/* values below zero of nodes are taken for zero */
	const char *root;		/* the name of the root: a function of that name below it is a level deeper */
	uint32_t column;		/* only this one and "calls"; UINT32_MAX is all */
};

struct pairs *pairs_new(const struct profile *p, const struct pairs_options *o);
struct pairs *pairs_free(struct pairs *t);	/* NULL is fine; returns NULL */

#endif
