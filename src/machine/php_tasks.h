/* php_tasks.h: the processes of this machine that run PHP.
 *
 * Name and user of a process are readable for everybody; its executable, mappings and root only for its own user and
 * for processes that may trace it (root). Fields tell when they are unknown.
 */
#ifndef MACHINE_PHP_TASKS_H
#define MACHINE_PHP_TASKS_H

#include "task_status.h"

#include <stddef.h>

enum tristate { TRISTATE_UNKNOWN, TRISTATE_NO, TRISTATE_YES };

struct php_task {
	pid_t pid;
	char name[96];			/* "php-fpm, pool www", "php-fpm, master", "php", "apache2", "frankenphp" */
	char pool[64];			/* pool of a worker of php-fpm, else "" */
	bool master;			/* a master of php-fpm: it runs no scripts */
	char config[256];		/* the configuration file that a master names, else "" */
	struct task_status status;
	char *command;			/* its words, each terminated by a NUL; for php-fpm, its title */
	size_t command_size;

	char *exe;			/* path within the process's own root; NULL: unknown */
	int exe_error;			/* errno if `exe` is unknown */
	bool exe_deleted;
	enum tristate loaded;		/* whether strobe.so is mapped */
	int maps_error;			/* errno if `loaded` is unknown */
	char *extension;		/* path of the mapped strobe.so; NULL: none is known */
	bool extension_deleted;
	char *library;			/* path of the mapped libphp*.so; NULL: none is known */

	enum tristate other_root;		/* its root differs from ours */
	bool container;			/* if so: by a mount namespace, else by chroot */
	char *root;			/* root directory of a chroot, as seen by us; NULL: none */
	char service[96];		/* "php8.2-fpm": systemd's unit, "" if none */
};

/* Reads the process `pid` (a number as text) in `proc` ("/proc"), whatever program it runs. Returns 0, -ENOENT or
 * another -errno. */
int php_task_read(const char *proc, const char *pid, struct php_task *ret);
void php_task_done(struct php_task *t);

/* Whether the process runs PHP, judged by its name or a mapped libphp. Apache needs the extension or the library as
 * proof. */
bool php_task_is_php(const struct php_task *t);

/* Finds the processes that run PHP, in the order of /proc; free them with php_tasks_free. NULL and 0 if there are
 * none. `*ret_examined` (may be NULL) gets the number of all processes. */
size_t php_tasks_find(const char *proc, struct php_task **ret, size_t *ret_examined);
void php_tasks_free(struct php_task *tasks, size_t count);

/* Writes the name of a user, or the number if there is no name. */
void user_name(uid_t uid, char *out, size_t size);

#endif
