/* folded_write.h: writes a profile as folded stacks. */
#ifndef FORMATS_FOLDED_WRITE_H
#define FORMATS_FOLDED_WRITE_H

#include "profile.h"

/* Writes one line per node with a self value above zero, sorted by bytes like the output of other tools' collapse
 * scripts: equal profiles give equal text, no matter how they were built. Frames with the same name are merged.
 * UINT32_MAX is the default column. Returns 0, or the number of stacks left out because their value is negative, and
 * then `err` has their sum. */
int folded_write(const struct profile *p, uint32_t column, struct buf *out, struct err *err);

/* The same with two counts, like difffolded.pl: "a;b 10 12", with 0 for values that are not above zero. A stack with
 * a value in column `measured`, which is `before` before it was scaled, has a line even if both are 0. */
int folded_write_difference(const struct profile *p, uint32_t before, uint32_t after, uint32_t measured,
			    struct buf *out, struct err *err);

/* Writes a line for each of `order`, an array of struct format_stack, without sorting or adding up, like
 * stackcollapse-bpftrace.pl. */
int folded_write_order(const struct profile *p, const struct buf *order, struct buf *out, struct err *err);

#endif
