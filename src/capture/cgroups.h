/* cgroups.h: control groups (version 2), by path or by the id of the container that runs in them. */
#ifndef CAPTURE_CGROUPS_H
#define CAPTURE_CGROUPS_H

#include "err.h"
#include <stdbool.h>
#include <sys/types.h>

/* Opens the directory of a group: a path below the mount of version 2 ("/system.slice/php8.2-fpm.service"), or one that
 * begins with the mount itself. -ENOENT, or -ENOTSUP if version 2 is not mounted, with a sentence. */
int cgroup_open(const char *path, struct err *err);

/* The same for a container, by its id or the first digits of it, 4 at least. -EEXIST if several begin so. */
int cgroup_open_container(const char *id, struct err *err);

/* Whether a process is in the group of that open directory, or below. */
bool cgroup_has_process(int directory, pid_t pid);

#endif
