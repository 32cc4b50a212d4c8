/* cgroups.h: control groups (version 2), by path or by the id of the container that runs in them. */
#ifndef CAPTURE_CGROUPS_H
#define CAPTURE_CGROUPS_H

#include "err.h"
#include <stdbool.h>
#include <sys/types.h>

/* Opens the directory of a group: a path below the mount of version 2 ("/system.slice/php8.2-fpm.service"), or one
 * that begins with the mount itself. Returns -ENOENT, or -ENOTSUP if version 2 is not mounted, with a sentence. */
int cgroup_open(const char *path, struct err *err);

/* The same for a container, by its id or at least the first 4 digits of it. Returns -EEXIST if these are ambiguous. */
int cgroup_open_container(const char *id, struct err *err);

/* Tells whether a process is in the group with that open directory, or below. */
bool cgroup_has_process(int directory, pid_t pid);

#endif
