/* php_tasks.h: the processes of this machine that run PHP.
 *
 * Everybody may read the name and the user of a process. Its executable, its mappings and its root are only readable for its own
 * user and for those who may trace it (root); fields say when they are unknown.
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
	char *command;			/* its words, separated by NULs; php-fpm's are a title */
	size_t command_size;

	char *exe;			/* its path as the process's own root has it; NULL: unknown */
	int exe_error;			/* then, as an errno */
	bool exe_deleted;
	enum tristate loaded;		/* whether strobe.so is mapped */
	int maps_error;			/* errno where that is not known */
	char *extension;		/* path of the mapped strobe.so, NULL if none is known */
	bool extension_deleted;
	char *library;			/* libphp*.so that is mapped, NULL if none is known */

	enum tristate other_root;		/* it does not see our files */
	bool container;			/* then: because of another mount namespace; else a chroot */
	char *root;			/* root directory of a chroot, as we name it; NULL */
	char service[96];		/* "php8.2-fpm": systemd's unit, "" if none */
};

/* Reads the process `pid` (a number as text) in `proc` ("/proc"), running any program. Returns 0, -ENOENT or another -errno. */
int php_task_read(const char *proc, const char *pid, struct php_task *ret);
void php_task_done(struct php_task *t);

/* Whether it runs PHP: by its name or a mapped libphp. Apache needs the extension or the library as proof. */
bool php_task_is_php(const struct php_task *t);

/* The processes that run PHP, in the order of /proc; the caller calls php_tasks_free. NULL and 0 if there are none.
 * `*ret_examined` (NULL is fine): how many processes there are. */
size_t php_tasks_find(const char *proc, struct php_task **ret, size_t *ret_examined);
void php_tasks_free(struct php_task *tasks, size_t count);

/* The name of a user, or its number. */
void user_name(uid_t uid, char *out, size_t size);

#endif
