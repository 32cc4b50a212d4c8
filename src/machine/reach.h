/* reach.h: whether a process could write to a socket, by the rights of what lies on the way.
 *
 * By the nine bits of each mode. An access list may allow more, so what has one is not called closed for certain.
 */
#ifndef MACHINE_REACH_H
#define MACHINE_REACH_H

#include "root_dir.h"
#include "task_status.h"

struct reach {
	enum { REACH_OPEN, REACH_DENIED, REACH_ABSENT, REACH_NO_SOCKET, REACH_UNKNOWN } how;
	char at[256];		/* the directory or socket that stops it, within the root; "" if nothing does */
	mode_t mode;		/* of that, if it is there */
	char group[64];		/* of that: whose members it would let; "" if nobody's */
	bool has_acl;		/* of that: an access list, which was not read */
};

/* `path` is absolute within `root`. */
void reach_socket(const struct root_dir *root, const char *path, const struct task_status *who, struct reach *ret);

#endif
