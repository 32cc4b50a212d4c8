/* stap_write.h: writes stacks like SystemTap's scripts: leaf first, then the count, hottest stacks first. */
#ifndef FORMATS_STAP_WRITE_H
#define FORMATS_STAP_WRITE_H

#include "buf.h"
#include "err.h"
#include "profile.h"

/* Like `write` of struct format, but for one column; values below 1 are left out. */
int stap_write(const struct profile *p, uint32_t column, struct buf *out, struct err *err);

#endif
