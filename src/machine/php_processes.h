/* php_processes.h: the PHP processes of this machine, and whether they could hand samples to a socket.
 *
 * Root is not needed: everybody may read a process's user and name. Its mappings are readable by its own user only,
 * so they are known for some processes.
 */
#ifndef MACHINE_PHP_PROCESSES_H
#define MACHINE_PHP_PROCESSES_H

#include "buf.h"
#include <stdbool.h>
#include <stddef.h>

/* Processes of one user and one name, or a pool of php-fpm that has none now. */
struct php_group {
	char user[64];			/* its number if it has no name */
	char name[96];			/* "php-fpm, pool www", "php", "apache2", "frankenphp" */
	unsigned processes;
	bool may_send;			/* it may reach the socket and write to it */
	bool absent;			/* it does not, because that is not there */
	char blocked_at[108];		/* the directory or socket that denies access; "" if it may send */
	char owner_group[64];		/* the group of `blocked_at` if its members may pass, "" if none */
	char other_root[108];		/* the chroot it runs in, or "its container"; "" if it sees our files */
	bool contained;			/* in a container of its own, or together with the caller in one without systemd */
	enum { LOADED_UNKNOWN, LOADED_NO, LOADED_YES } loaded;	/* the extension; YES if it is in one of them */
};

/* All below `proc` ("/proc"), but masters of php-fpm; their idle pools last. Returns how many groups; the caller frees *ret, NULL without any. */
size_t php_processes_find(const char *proc, const char *socket_path, struct php_group **ret);

/* Appends " may not write to SOCKET; …" with the remedy, for a group that may not send. No full stop. */
void php_group_put_barrier(const struct php_group *g, const char *socket_path, struct buf *out);

#endif
