/* private_file.h: files with the daemon's own state: a journal, offsets, a token, locks.
 *
 * Nobody else may read them (0600), and a symbolic link in the place of one is not followed: users with write access to
 * the directory could otherwise make root's daemon overwrite any file of the machine.
 */
#ifndef BASE_PRIVATE_FILE_H
#define BASE_PRIVATE_FILE_H

#include "buf.h"
#include "err.h"
#include <stdbool.h>

/* open(2) with mode 0600. A file that others may read loses that right. -ELOOP for a link and -EINVAL for anything but
 * a regular file, with a sentence. On success `*ret_fd` is the caller's to close. */
int private_file_open(const char *path, int flags, int *ret_fd, struct err *err);

/* Appends what the file holds; -ENOENT if there is none, -EFBIG above `limit` bytes. */
int private_file_read(const char *path, struct buf *b, size_t limit, struct err *err);

/* Replaces the file, or a link in its place, by a new one. With `durable` it survives a loss of power when this
 * returns 0. */
int private_file_write(const char *path, const void *bytes, size_t n, bool durable, struct err *err);

#endif
