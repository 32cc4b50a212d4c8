/* daemon_unit.c: finds the units in the file system, since no program is run. */
#include "daemon_unit.h"

#include "cleanup.h"
#include "container.h"
#include "mem.h"

#include <stdlib.h>
#include <unistd.h>

static bool exists(const char *root, const char *directory, const char *unit)
{
	_cleanup_(freep) char *path = xasprintf("%s/%s/%s.service", root, directory, unit);

	return access(path, F_OK) == 0;
}

struct daemon_unit daemon_unit_find(const char *root)
{
	/* A unit's cgroup directory, of version 2 or 1, exists while it runs. */
	static const char *const directories[] = {
		"sys/fs/cgroup/system.slice",
		"sys/fs/cgroup/systemd/system.slice",
		"etc/systemd/system/multi-user.target.wants",
	};
	struct daemon_unit u = { 0 };
	bool runs = false;

	for (size_t i = 0; i < ARRAY_SIZE(directories) && !u.serves && !u.collects; i++) {
		u.serves = exists(root, directories[i], "strobe");
		u.collects = exists(root, directories[i], "strobe-collect");
		runs = i < 2 && (u.serves || u.collects);
	}
	if (!u.serves && !u.collects)
		u.serves = u.collects = true;
	u.container = !runs && container_without_systemd(root);
	return u;
}

char *daemon_unit_log(const struct daemon_unit *u)
{
	if (u->container)
		return xstrdup("read the log of the daemon's container");
	return xasprintf("journalctl%s%s", u->serves ? " -u strobe" : "", u->collects ? " -u strobe-collect" : "");
}

char *daemon_unit_command(const struct daemon_unit *u, const char *verb)
{
	if (u->container)
		return xasprintf("%s the daemon's container", verb);
	return xasprintf("systemctl %s %s%s", verb, u->serves ? "strobe" : "strobe-collect",
			 u->serves && u->collects ? " (or strobe-collect)" : "");
}

char *daemon_unit_start(const struct daemon_unit *u)
{
	_cleanup_(freep) char *command = daemon_unit_command(u, "start");

	return xasprintf("%s, or by hand: strobe %s", command, u->serves ? "serve" : "collect");
}
