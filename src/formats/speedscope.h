/* speedscope.h: writes the format described in speedscope.c. */
#ifndef FORMATS_SPEEDSCOPE_H
#define FORMATS_SPEEDSCOPE_H

#include "profile.h"

/* Writes stacks in the order of the tree. Values are integers in the unit of the column. */
int speedscope_write(const struct profile *p, uint32_t column, struct buf *out, struct err *err);

#endif
