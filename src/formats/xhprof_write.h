/* xhprof_write.h: writes a profile in the form returned by xhprof, tideways_xhprof and uprofiler. */
#ifndef FORMATS_XHPROF_WRITE_H
#define FORMATS_XHPROF_WRITE_H

#include "profile.h"

int xhprof_write_serialized(const struct profile *p, uint32_t column, struct buf *out, struct err *err);
int xhprof_write_json(const struct profile *p, uint32_t column, struct buf *out, struct err *err);

#endif
