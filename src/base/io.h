/* io.h: whole files and whole writes. */
#ifndef BASE_IO_H
#define BASE_IO_H

#include "buf.h"
#include "err.h"
#include <sys/types.h>

/* Appends the content of `path` ("-" is standard input) to `b`; -EFBIG above `limit` bytes. */
int io_read_file(const char *path, struct buf *b, size_t limit, struct err *err);

/* Writes all bytes to `fd`, going on after EINTR and short writes. */
int io_write_all(int fd, const void *bytes, size_t n, struct err *err);

/* Writes `path` by way of a temporary file beside it, so that nobody sees half of it ("-" is standard output). */
int io_write_file(const char *path, const void *bytes, size_t n, struct err *err);

/* Makes the directory and those above it. */
int io_make_dirs(const char *path, mode_t mode, struct err *err);

#endif
