/* private_file.h: files with the daemon's own state: a journal, offsets, a token, locks.
 *
 * Nobody else may read them (0600), and symbolic links in their place are not followed: users with write access to
 * the directory could otherwise make root's daemon overwrite any file on the machine.
 */
#ifndef BASE_PRIVATE_FILE_H
#define BASE_PRIVATE_FILE_H

#include "buf.h"
#include "err.h"
#include <stdbool.h>

/* Like open(2) with mode 0600. If others may read the file, that permission is removed. Returns -ELOOP for a link and
 * -EINVAL for anything but a regular file, with a sentence. On success `*ret_fd` is the caller's to close. */
int private_file_open(const char *path, int flags, int *ret_fd, struct err *err);

/* Appends the content of the file; returns -ENOENT if it does not exist, -EFBIG above `limit` bytes. */
int private_file_read(const char *path, struct buf *b, size_t limit, struct err *err);

/* Replaces the file, or a link in its place, by a new one. With `durable` it survives a power failure once this
 * returns 0. */
int private_file_write(const char *path, const void *bytes, size_t n, bool durable, struct err *err);

#endif
