/* daemon_unit.h: the systemd unit of this host's daemon: strobe.service, strobe-collect.service, or both; or the daemon's
 * container.
 */
#ifndef DOCTOR_DAEMON_UNIT_H
#define DOCTOR_DAEMON_UNIT_H

#include <stdbool.h>

struct daemon_unit {
	bool serves, collects;		/* both are true if neither is known to run or to be enabled */
	bool container;			/* no unit runs, and the caller is in a container without systemd */
};

/* Looks below `root` for units that run, or else for those that are enabled. */
struct daemon_unit daemon_unit_find(const char *root);

/* "journalctl -u strobe", or "read the log of the daemon's container"; the caller frees. */
char *daemon_unit_log(const struct daemon_unit *u);

/* "systemctl restart strobe", or "restart the daemon's container"; the caller frees. */
char *daemon_unit_command(const struct daemon_unit *u, const char *verb);

/* "systemctl start strobe, or by hand: strobe serve"; the caller frees. */
char *daemon_unit_start(const struct daemon_unit *u);

#endif
