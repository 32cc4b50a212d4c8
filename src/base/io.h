/* io.h: whole files and whole writes. */
#ifndef BASE_IO_H
#define BASE_IO_H

#include "buf.h"
#include "err.h"
#include <stdint.h>
#include <sys/types.h>

/* Appends the content of `path` ("-" is standard input) to `b`; returns -EFBIG above `limit` bytes. */
int io_read_file(const char *path, struct buf *b, size_t limit, struct err *err);

/* The same for an open descriptor, from its current position; `name` is used in the error. */
int io_read_fd(int fd, const char *name, struct buf *b, size_t limit, struct err *err);

/* Opens a path below `root` as if that were /: no link leads out of it (openat2, Linux 5.6). For files in containers,
 * which are untrusted: `flags` of open(2) must include O_NONBLOCK, so that a pipe does not block us. Returns a
 * descriptor or a negative errno. */
int io_open_in_root(int root, const char *path, int flags);

/* Reads a password or a token ("password" as `what`): the content of the file without trailing white space. Returns
 * -ENOMSG if that is empty, or contains a NUL. */
int io_read_secret(const char *path, const char *what, struct buf *ret, struct err *err);

/* Waits until there is something to read, or the other end was closed. Returns 0, or -ETIMEDOUT at `until_ns`
 * (CLOCK_MONOTONIC). */
int io_wait_readable(int fd, int64_t until_ns);

/* Writes all bytes to `fd`, retrying after EINTR and short writes. */
int io_write_all(int fd, const void *bytes, size_t n, struct err *err);

/* Writes `path` through a temporary file next to it, so that it is never incomplete ("-" is standard output). */
int io_write_file(const char *path, const void *bytes, size_t n, struct err *err);

/* Creates the directory and its parents. */
int io_make_dirs(const char *path, mode_t mode, struct err *err);

/* Syncs a directory, so that its names are durable; the other function takes the path of a file in it. A file system
 * that cannot sync directories is not an error. */
int io_sync_directory(const char *path, struct err *err);
int io_sync_directory_of(const char *path, struct err *err);

#endif
