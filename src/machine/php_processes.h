/* php_processes.h: the PHP processes of this machine, and whether they could send samples to a socket.
 *
 * This works without root: name and user of a process are readable for everybody. Mappings are readable only for the
 * process's own user, so they are known for some processes only.
 */
#ifndef MACHINE_PHP_PROCESSES_H
#define MACHINE_PHP_PROCESSES_H

#include "buf.h"
#include <stdbool.h>
#include <stddef.h>

/* Processes of one user and one name, or an idle pool of php-fpm. */
struct php_group {
	char user[64];			/* its number if it has no name */
	char name[96];			/* "php-fpm, pool www", "php", "apache2", "frankenphp" */
	unsigned processes;
	bool may_send;			/* it may reach the socket and write to it */
	bool absent;			/* it may not, because the socket does not exist */
	char blocked_at[108];		/* the directory or socket that denies access; "" if it may send */
	char owner_group[64];		/* the group of `blocked_at` if its members may pass, "" if none */
	char other_root[108];		/* the chroot it runs in, or "its container"; "" if it sees our files */
	bool contained;			/* in another container, or in one with the caller if that has no systemd */
	enum { LOADED_UNKNOWN, LOADED_NO, LOADED_YES } loaded;	/* the extension; YES if at least one has it */
};

/* Finds all processes below `proc` ("/proc") except masters of php-fpm; idle pools come last. Returns the number of
 * groups; the caller frees *ret, which is NULL if there are none. */
size_t php_processes_find(const char *proc, const char *socket_path, struct php_group **ret);

/* Appends " may not write to SOCKET; …" with the remedy, for a group that may not send. Ends without a full stop. */
void php_group_put_barrier(const struct php_group *g, const char *socket_path, struct buf *out);

#endif
