/* file_paths.h: the files that a followed path leads to. */
#ifndef COLLECT_FILE_PATHS_H
#define COLLECT_FILE_PATHS_H

#include "err.h"
#include <stdbool.h>
#include <stdint.h>
#include <sys/stat.h>

/* -EINVAL with a sentence if it is not a regular file. */
int file_check_regular(const char *path, const struct stat *st, struct err *err);

/* Opens a regular file. -ENOENT if it does not exist; other errors have a sentence. */
int file_open_regular(const char *path, int *ret_fd, struct stat *ret_st, struct err *err);

/* Opens the file with this inode among those whose names begin with that of the path (x, x.1, x-20261121), beside it or beside
 * the file that it is a link to. -ENOENT if there is none. */
int file_find_rotated(const char *path, uint64_t device, uint64_t inode, int *ret_fd, struct stat *ret_st);

/* Whether two paths lead to the same file, or would if it existed: the same name in the same directory. */
bool file_is_same(const char *a, const char *b);

#endif
