/* folded_write.h: a profile as folded stacks. */
#ifndef FORMATS_FOLDED_WRITE_H
#define FORMATS_FOLDED_WRITE_H

#include "profile.h"

/* One line per node that has a value itself, in the order of the tree with siblings by name, so that equal profiles
 * give equal text however they were put together. UINT32_MAX is the first column. */
int folded_write(const struct profile *p, uint32_t column, struct buf *out, struct err *err);

#endif
