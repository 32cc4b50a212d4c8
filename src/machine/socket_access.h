/* socket_access.h: checks whether a process could write to a socket, by the permissions along its path.
 *
 * Only the nine permission bits are checked. An access list may allow more, so a path with one may be open after all.
 */
#ifndef MACHINE_SOCKET_ACCESS_H
#define MACHINE_SOCKET_ACCESS_H

#include "root_dir.h"
#include "task_status.h"

struct socket_access {
	enum { SOCKET_ACCESS_OPEN, SOCKET_ACCESS_DENIED, SOCKET_ACCESS_ABSENT, SOCKET_ACCESS_NO_SOCKET, SOCKET_ACCESS_UNKNOWN } how;
	char at[256];		/* the directory or socket that denies access, within the root; "" if none does */
	mode_t mode;		/* the mode of `at`, if it exists */
	char group[64];		/* the group of `at` if its members may pass; "" if none */
	bool has_acl;		/* `at` has an access list, which was not read */
};

/* `path` is absolute within `root`. */
void socket_access_check(const struct root_dir *root, const char *path, const struct task_status *who, struct socket_access *ret);

#endif
