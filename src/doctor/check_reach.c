/* check_reach.c: checks the way from a process to the daemon's socket. */
#include "doctor.h"

#include "container.h"
#include "mem.h"

#include <grp.h>
#include <pwd.h>
#include <string.h>

/* Whether both paths lead to the same socket: a chroot may have the directory mounted elsewhere. */
static bool is_same(const struct root_dir *root, const char *path, const char *ours)
{
	struct stat a, b;

	return root_dir_stat(root, path, &a) == 0 && stat(ours, &b) == 0 && a.st_dev == b.st_dev && a.st_ino == b.st_ino;
}

/* Whether the user is in the group now: a running process keeps the groups that it was started with. */
static bool is_member_since(const char *user, const char *group)
{
	struct group *g = getgrnam(group);
	struct passwd *p = getpwnam(user);

	if (g && p && p->pw_gid == g->gr_gid)
		return true;
	for (char **m = g ? g->gr_mem : NULL; m && *m; m++)
		if (!strcmp(*m, user))
			return true;
	return false;
}

static char *directory_of(const char *path)
{
	const char *slash = strrchr(path, '/');

	return xstrndup(path, slash > path ? (size_t)(slash - path) : 1);
}

static void add_absent(struct findings *f, const struct doctor *d, enum level level, const char *area, const char *about,
		       const char *root_name, const char *path, const struct php_settings *settings, const char *service,
		       const struct socket_access *r)
{
	_cleanup_(freep) char *directory = directory_of(path), *fix = NULL, *own = directory_of(d->socket);
	struct daemon_unit unit = daemon_unit_find(d->root);

	if (root_name && *root_name == '/')
		fix = xasprintf("mkdir -p %s%s && mount --bind %s %s%s", root_name, directory, own, root_name, directory);
	else if (root_name)
		fix = xasprintf("mount the directory into the container: docker run -v %s:%s", own, directory);
	else if (strcmp(path, d->socket) && d->daemon)
		fix = doctor_change(settings, "strobe.socket", d->socket);
	else if (d->daemon && !*service && container_without_systemd(""))
		fix = xasprintf("mount %s where it runs, or choose a socket that it sees", own);
	else if (d->daemon)
		fix = xasprintf("BindPaths=%s in the [Service] of its unit (systemctl edit %s), and restart it; or a socket below /run", own,
				*service ? service : "UNIT");
	else
		fix = daemon_unit_start(&unit);
	findings_add(f, level, area, root_name ? "socket-root" : "socket-absent", about, fix, "it looks for the socket %s%s%s, and there is no %s%s",
		     path, root_name ? " in " : "", root_name ? root_name : "", r->at,
		     !root_name && d->daemon && !strcmp(path, d->socket) ? " for it: directories are mounted for it alone (such as by PrivateTmp)" : "");
}

static void add_denied(struct findings *f, enum level level, const char *area, const char *about, const char *root_name,
		       const char *path, const struct task_status *who, const char *service, const struct socket_access *r)
{
	bool contained = who->gid_count && ((root_name && *root_name != '/') || container_without_systemd(""));
	_cleanup_(buf_done) struct buf fix = { 0 };
	char user[64];

	buf_init(&fix);
	user_name(who->uid, user, sizeof(user));
	/* In a container, groups are those of the image, and php-fpm drops the ones that the engine adds. */
	if (*r->group && contained)
		buf_printf(&fix, "run the daemon with a group of that PHP: docker run --user 999:%lu", (unsigned long)who->gids[0]);
	else if (*r->group && !is_member_since(user, r->group))
		buf_printf(&fix, "usermod -aG %s %s", r->group, user);
	if (*r->group && !contained && fix.size)
		doctor_put_then_restart(service, &fix);
	else if (*r->group && !contained)
		doctor_put_restart(service, &fix);
	else if (!*r->group)
		buf_printf(&fix, "chmod o+%s %s, or better a group of its own for it", strcmp(r->at, path) ? "x" : "w", r->at);
	findings_add(f, r->has_acl ? LEVEL_WARNING : level, area, "socket-permission", about, fix.data,
		     "user %s may not %s %s (mode %04o%s%s)%s%s", user, strcmp(r->at, path) ? "enter" : "write to", r->at,
		     (unsigned)r->mode & 07777, *r->group ? ", group " : "", r->group,
		     *r->group && !contained && is_member_since(user, r->group) ? ": it has been added to the group, but the process started before that" : "",
		     r->has_acl ? ", unless its access list says otherwise" : "");
}

bool doctor_socket_access(struct findings *f, const struct doctor *d, enum level level, const char *area, const char *about,
		  const struct root_dir *root, const char *root_name, const char *path, const struct php_settings *settings,
		  const struct task_status *who, const char *service)
{
	_cleanup_(freep) char *fix = NULL;
	struct socket_access r;

	if (*path != '/')
		return true;		/* no path: its setting was already reported as invalid */
	socket_access_check(root, path, who, &r);
	switch (r.how) {
	case SOCKET_ACCESS_OPEN:
		if (!d->daemon || is_same(root, path, d->socket))
			return true;
		fix = doctor_change(settings, "strobe.socket", d->socket);
		findings_add(f, level, area, "socket-other", about, fix, "it sends to %s, but the daemon listens on %s", path, d->socket);
		return false;
	case SOCKET_ACCESS_ABSENT:
		add_absent(f, d, level, area, about, root_name, path, settings, service, &r);
		return false;
	case SOCKET_ACCESS_DENIED:
		add_denied(f, level, area, about, root_name, path, who, service, &r);
		return false;
	case SOCKET_ACCESS_NO_SOCKET:
		findings_add(f, level, area, "socket-type", about, "name the daemon's socket in strobe.socket", "it sends to %s, which is not a socket",
			     path);
		return false;
	case SOCKET_ACCESS_UNKNOWN:
		findings_add(f, LEVEL_NOTE, area, "socket-unknown", about, doctor_as_root(), "cannot inspect %s (permission denied), so its access is unknown",
			     r.at);
		return false;
	}
	return false;
}
