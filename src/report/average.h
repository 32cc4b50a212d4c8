/* average.h: shared by both parts of report_average: sums of value × weight, and their quotients. */
#ifndef REPORT_AVERAGE_H
#define REPORT_AVERAGE_H

#include "report.h"

/* 2^63 times the largest weight is 2^103, which leaves room for 2^24 runs. */
typedef __int128 wide_int;

static inline wide_int average_divide(wide_int sum, wide_int by)
{
	return sum < 0 ? -((-sum + by / 2) / by) : (sum + by / 2) / by;
}

/* The number of units of the average per unit of the profile's column: averages of counts can be fractions. */
static inline int64_t average_factor(const struct profile *all, uint32_t column, const struct profile *p, uint32_t c)
{
	return profile_scale(all, column) / profile_scale(p, c);
}

/* Adds average edges to `all`, which has the merged columns and the average tree, if any profile has edges. `by` is
 * the sum of weights. */
void average_edges(struct profile *all, const struct profile *const *profiles, const uint64_t *weights, size_t count,
		   wide_int by);

#endif
