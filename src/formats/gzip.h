/* gzip.h: compresses bytes as a .gz file. */
#ifndef FORMATS_GZIP_H
#define FORMATS_GZIP_H

#include "buf.h"
#include "err.h"

/* Appends the compressed bytes. Equal bytes give equal files: they contain no name or time. */
int gzip_put(struct buf *out, const void *bytes, size_t n, struct err *err);

/* The same for interactive use: a few times as fast, and somewhat larger. */
int gzip_put_fast(struct buf *out, const void *bytes, size_t n, struct err *err);

#endif
