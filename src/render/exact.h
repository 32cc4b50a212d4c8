/* exact.h: exact values of functions where the tree of a picture is an estimate: computed from the measured pairs of
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
	uint32_t column, before;	/* before: UINT32_MAX unless the picture is of a difference; measured: before scaling */
	struct profile_scaling scaling;	/* scaling of `before` */
	bool of_calls;			/* calls have no meaningful totals */
	int64_t whole, whole_before;	/* 100 % of shares: the sum of all values, before without scale */
};

/* NULL if the profile has no edges, or no column is drawn. exact_free returns NULL. */
struct exact *exact_new(const struct profile *p, const struct flamegraph_options *o);
struct exact *exact_free(struct exact *x);
void exact_freep(struct exact **x);

/* Functions with negative self values make the whole larger than the sum, which could be zero or less. */
int64_t exact_total(const struct profile *p, const struct edges_sums *sums, uint32_t column);

/* Whether its total, in column `c`, is a limit. */
bool exact_is_at_most(const struct exact *x, uint32_t frame);

#endif
