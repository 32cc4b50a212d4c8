/* child.h: runs the user's command in our place: same terminal, same process group, signals forwarded.
 *
 * Like a shell, it outlives the child on any signal; SIGINT and SIGQUIT from a terminal reach the child directly,
 * those sent only to us are forwarded. */
#ifndef RUN_CHILD_H
#define RUN_CHILD_H

#include "err.h"
#include "loop.h"
#include <signal.h>
#include <sys/resource.h>

struct child {
	pid_t pid;
	int exit_code;			/* 128 + the signal if a signal ended it */
	int signal;			/* the signal that ended it; 0: none */
	bool over;
	struct rusage usage;		/* its own and that of children it waited for; valid once it has ended */
	void (*ended)(struct child *c);	/* called once, from the loop */

	struct loop *loop;
	struct watch signals;
	sigset_t original;		/* signal mask at our start */
};

/* Blocks the signals and watches them, so that none of them terminates us. */
int child_init(struct child *c, struct loop *loop, struct err *err);

/* Starts the program at `path` with `scan_dir` as PHP_INI_SCAN_DIR. On failure *ret_code is the exit code that `env`
 * would have: 126 if it cannot be executed, 127 if it does not exist. */
int child_start(struct child *c, const char *path, char **argv, const char *scan_dir, int *ret_code, struct err *err);

void child_done(struct child *c);

#endif
