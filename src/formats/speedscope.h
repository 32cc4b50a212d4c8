/* speedscope.h: writes what speedscope.c draws. */
#ifndef FORMATS_SPEEDSCOPE_H
#define FORMATS_SPEEDSCOPE_H

#include "profile.h"

/* Stacks in the order of the tree. Values are whole numbers in the unit of the column. */
int speedscope_write(const struct profile *p, uint32_t column, struct buf *out, struct err *err);

#endif
