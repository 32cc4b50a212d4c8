/* php_found.h: each PHP of this machine: those installed where PHPs are installed, and those that run, in containers too. */
#ifndef MACHINE_PHP_FOUND_H
#define MACHINE_PHP_FOUND_H

#include "php_binary.h"
#include "php_tasks.h"

struct php_found {
	struct php_binary binary;
	char *root;			/* directory that its paths are in: "/", or "/proc/1234/root" */
	pid_t pid;			/* of a process that runs it, 0 if none does */
	unsigned processes;		/* that run it */
	bool deleted;			/* another file is in its place meanwhile, or none */
	dev_t device;
	ino_t inode;
};

struct php_found_list {
	struct php_found *items;
	size_t count, capacity;
};

/* Looks below `root` ("/") in PATH and in the usual places, and at `tasks`, whose files are in `proc`. */
void php_found_all(const char *root, const char *proc, const struct php_task *tasks, size_t task_count,
		   struct php_found_list *ret);

/* Adds the PHP that a process runs. NULL if its file cannot be read or is no PHP, with the reason. */
struct php_found *php_found_add_task(struct php_found_list *l, const char *proc, const struct php_task *t, struct err *err);
void php_found_done(struct php_found_list *l);

#endif
