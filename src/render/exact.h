/* exact.h: exact values of functions if the tree of a picture is an estimate: computed from the measured pairs of
 * caller and callee (edges.h), like the tables of src/report.
 *
 * The boxes of such a picture are an estimate of the stacks. Its figures about functions come from here.
 */
#ifndef RENDER_EXACT_H
#define RENDER_EXACT_H

#include "edges.h"
#include "render.h"

struct exact {
	const struct profile *p;
	struct edges_sums sums;		/* by frame */
	uint32_t column, before;	/* before: UINT32_MAX unless the picture is a difference; measured: unscaled */
	struct profile_scaling scaling;	/* scaling of `before` */
	bool of_calls;			/* the column counts calls, whose totals are meaningless */
	int64_t whole, whole_before;	/* 100 % of shares: the sum of all values; before is unscaled */
};

/* Returns NULL if the profile has no edges, or no column is drawn. exact_free returns NULL. */
struct exact *exact_new(const struct profile *p, const struct flamegraph_options *o);
struct exact *exact_free(struct exact *x);
void exact_freep(struct exact **x);

/* Returns the base of shares: with negative self values this exceeds the sum, which could be zero or less. */
int64_t exact_total(const struct profile *p, const struct edges_sums *sums, uint32_t column);

/* Tells whether the total in column `c` is a limit. */
bool exact_is_at_most(const struct exact *x, uint32_t frame);

#endif
