/* socket_access.c: checks the permissions of directories and of the socket. */
#include "socket_access.h"

#include "mem.h"

#include <fcntl.h>
#include <grp.h>
#include <string.h>
#include <sys/xattr.h>

#define GROUP_BYTES	16384

static bool allows(const struct stat *st, const struct task_status *who, mode_t right)
{
	if (who->uid == 0)
		return true;
	if (st->st_uid == who->uid)
		return st->st_mode & right << 6;
	if (task_is_member(who, st->st_gid))
		return st->st_mode & right << 3;
	return st->st_mode & right;
}

static void note(struct socket_access *ret, const struct root_dir *root, const struct stat *st, mode_t right)
{
	_cleanup_(fd_closep) int fd = root_dir_open_at(root, ret->at, O_PATH);
	_cleanup_(freep) char *same = xasprintf("/proc/self/fd/%d", fd);
	struct group group, *owner = NULL;
	char text[GROUP_BYTES];

	ret->mode = st->st_mode;
	/* Root's own group has no other members. */
	if (st->st_mode & right << 3 && st->st_gid && getgrgid_r(st->st_gid, &group, text, sizeof(text), &owner) == 0 && owner)
		snprintf(ret->group, sizeof(ret->group), "%s", owner->gr_name);
	ret->has_acl = fd >= 0 && getxattr(same, "system.posix_acl_access", NULL, 0) > 0;
}

/* Each directory on the way needs search permission, and the socket write permission. */
void socket_access_check(const struct root_dir *root, const char *path, const struct task_status *who, struct socket_access *ret)
{
	struct stat st;

	*ret = (struct socket_access){ .how = SOCKET_ACCESS_OPEN };
	for (const char *slash = strchr(path, '/'); ; slash = strchr(slash + 1, '/')) {
		size_t n = !slash ? strlen(path) : slash == path ? 1 : (size_t)(slash - path);
		mode_t right = slash ? 1 : 2;
		int r;

		snprintf(ret->at, sizeof(ret->at), "%.*s", (int)n, path);
		r = root_dir_stat(root, ret->at, &st);
		if (r < 0) {
			ret->how = r == -ENOENT || r == -ENOTDIR ? SOCKET_ACCESS_ABSENT : SOCKET_ACCESS_UNKNOWN;
			return;
		}
		if (!allows(&st, who, right)) {
			ret->how = SOCKET_ACCESS_DENIED;
			note(ret, root, &st, right);
			return;
		}
		if (!slash)
			break;
	}
	if (S_ISSOCK(st.st_mode))
		ret->at[0] = '\0';
	else
		ret->how = SOCKET_ACCESS_NO_SOCKET;
}
