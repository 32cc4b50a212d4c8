/* sums.h: the values of every function in a whole profile, for pictures that leave out frames. */
#ifndef RENDER_SUMS_H
#define RENDER_SUMS_H

#include "profile.h"

/* Adds totals by node up by frame. A function that is there several times in a stack counts once. The caller frees. */
int64_t *sums_of_totals(const struct profile *p, const int64_t *totals);

/* The values of a column up by frame, `ret_self` without callees; values below zero count as nothing, as they do in a
 * layout. The caller frees both. */
void sums_of_column(const struct profile *p, uint32_t column, int64_t **ret_self, int64_t **ret_total);

#endif
