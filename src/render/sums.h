/* sums.h: the values of every function in a whole profile, for pictures that leave out frames. */
#ifndef RENDER_SUMS_H
#define RENDER_SUMS_H

#include "profile.h"

/* Sums totals by node into totals by frame. A function that occurs several times in a stack counts once. The caller
 * frees. */
int64_t *sums_of_totals(const struct profile *p, const int64_t *totals);

/* Sums the values of a column by frame, `ret_self` without callees; negative values count as zero, as in a layout.
 * The caller frees both. */
void sums_of_column(const struct profile *p, uint32_t column, int64_t **ret_self, int64_t **ret_total);

#endif
