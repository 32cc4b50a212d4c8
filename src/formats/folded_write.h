/* folded_write.h: a profile as folded stacks. */
#ifndef FORMATS_FOLDED_WRITE_H
#define FORMATS_FOLDED_WRITE_H

#include "profile.h"

/* One line per node that has a value above zero itself, stacks in the order of their bytes, as the scripts put them
 * that others collapse with: equal profiles give equal text however they were put together. Frames with one name are
 * one. UINT32_MAX is the column that is shown unless another is requested. Returns 0, or how many stacks were left out
 * because their value is negative, and then `err` has their sum. */
int folded_write(const struct profile *p, uint32_t column, struct buf *out, struct err *err);

/* The same with two counts, as difffolded.pl writes them: "a;b 10 12", and 0 for a value that is not above zero. A
 * stack with a value in column `measured`, which is `before` before it was scaled, has a line even if both are 0. */
int folded_write_difference(const struct profile *p, uint32_t before, uint32_t after, uint32_t measured,
			    struct buf *out, struct err *err);

/* A line for each of `order`, an array of struct format_stack, as they are: stackcollapse-bpftrace.pl neither sorts nor
 * adds up. */
int folded_write_order(const struct profile *p, const struct buf *order, struct buf *out, struct err *err);

#endif
