/* decompress.h: gzip and zstd, with a cap on what comes out. */
#ifndef FORMATS_DECOMPRESS_H
#define FORMATS_DECOMPRESS_H

#include "buf.h"
#include "err.h"

/* Recognises compressed bytes by how they begin and appends what they hold, several members or frames one after
 * another, to `out`. Returns 1, 0 if they are not compressed, -EFBIG above `limit` bytes, -EINVAL if they are damaged
 * or cut off. */
int decompress(const char *bytes, size_t n, struct buf *out, size_t limit, struct err *err);

#endif
