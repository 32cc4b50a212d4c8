/* obstacles.h: finds the reason why the caller cannot inspect processes, and the remedy.
 *
 * Causes and remedies are parts of sentences, for one line of a report: "you lack CAP_BPF" and "sudo, or once: setcap …".
 */
#ifndef MACHINE_OBSTACLES_H
#define MACHINE_OBSTACLES_H

#include "kernel_features.h"
#include "php_tasks.h"

struct obstacle {
	char cause[256];
	char remedy[256];		/* "" if none is known */
	bool chosen;			/* requested by STROBE_WITHOUT */
};

/* Finds the first obstacle that explains why a feature does not work. `result` is the negative result of
 * kernel_feature_probe. */
void obstacle_for_feature(const char *proc, enum kernel_feature f, int result, struct obstacle *ret);

/* Checks whether the memory of a process may be read. Returns 0 if so; otherwise -errno and the obstacle. -ESRCH: the
 * process has ended. */
int obstacle_for_memory(const char *proc, const struct php_task *t, struct obstacle *ret);

/* The remedies for missing capabilities, and for kernel.yama.ptrace_scope below 3. */
const char *obstacle_remedy_capabilities(const char *proc);
const char *obstacle_remedy_ptrace_scope(const char *proc);

/* Explains why reading its memory failed with this errno. */
void obstacle_for_refusal(const char *proc, const struct php_task *t, int error, struct obstacle *ret);

/* Whether the process is inaccessible even to its own user, as php-fpm's workers are by default. False for processes
 * of root, for which that cannot be determined. */
bool process_is_not_dumpable(const char *proc, const struct php_task *t);

/* Whether the process numbers in `proc` differ from the caller's, as in a pid namespace without a /proc of its own;
 * looking up a number would then find another process. */
bool obstacle_for_pid_namespace(const char *proc, struct obstacle *ret);

/* Whether the mount options of /proc (hidepid) hide processes of other users from the caller. */
bool obstacle_for_hidepid(const char *proc, struct obstacle *ret);

#endif
