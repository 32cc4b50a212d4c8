/* php_installation.h: each PHP of this machine: installed ones in the usual locations, and running ones, also in
 * containers. */
#ifndef MACHINE_PHP_INSTALLATION_H
#define MACHINE_PHP_INSTALLATION_H

#include "php_binary.h"
#include "root_dir.h"
#include "php_tasks.h"

struct php_installation {
	struct php_binary binary;
	char *root;			/* root of its paths: "/", or "/proc/1234/root" */
	pid_t pid;			/* a process that runs it, 0 if none does */
	unsigned processes;		/* number of processes that run it */
	bool deleted;			/* the file was deleted or replaced */
	dev_t device;
	ino_t inode;
};

struct php_installation_list {
	struct php_installation *items;
	size_t count, capacity;
};

/* Searches PATH and the usual locations below `root` ("/"), and the programs of `tasks`, whose files are in `proc`. */
void php_installations_find(const char *root, const char *proc, const struct php_task *tasks, size_t task_count,
		   struct php_installation_list *ret);

/* Adds the PHP that a process runs. NULL with the reason if its file cannot be read or is not PHP. */
struct php_installation *php_installation_add_task(struct php_installation_list *l, const char *proc, const struct php_task *t, struct err *err);
void php_installations_done(struct php_installation_list *l);

#endif
