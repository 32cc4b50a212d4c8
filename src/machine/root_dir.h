/* root_dir.h: accesses files below a root directory: "/", the root of a process in a container or a chroot, or a
 * test's directory.
 *
 * Paths are absolute within the root, and symbolic links do not escape it (openat2, Linux 5.6; without it they are
 * followed from our own root). Nothing blocks: pipes and devices are refused.
 */
#ifndef MACHINE_ROOT_DIR_H
#define MACHINE_ROOT_DIR_H

#include "buf.h"
#include <stdbool.h>
#include <sys/stat.h>

struct root_dir {
	int fd;
	char *path;		/* "" for "/", else without a trailing slash */
};

/* Returns 0 or -errno. */
int root_dir_open(const char *directory, struct root_dir *ret);
void root_dir_close(struct root_dir *r);

/* Opens the file at `path`; returns a descriptor or -errno. `flags` as for open(2). */
int root_dir_open_at(const struct root_dir *r, const char *path, int flags);
int root_dir_stat(const struct root_dir *r, const char *path, struct stat *ret);

/* Appends the content of a regular file; -EINVAL if it is not one, -EFBIG above `limit` bytes. */
int root_dir_read(const struct root_dir *r, const char *path, size_t limit, struct buf *out);

/* Lists the names in a directory that match `pattern` (fnmatch), sorted, at most ROOTED_NAMES; -errno if it cannot be
 * read. */
#define ROOTED_NAMES	1024
struct root_dir_names {
	char **items;
	size_t count;
};
int root_dir_list(const struct root_dir *r, const char *directory, const char *pattern, struct root_dir_names *ret);
void root_dir_names_done(struct root_dir_names *n);

/* Passes each path that matches a pattern to `found`, like glob(3); directories of the pattern may contain
 * wildcards. */
void root_dir_glob(const struct root_dir *r, const char *pattern, void (*found)(const char *path, void *data), void *data);

#endif
