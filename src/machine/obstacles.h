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
	char remedy[256];		/* "" if there is none */
	bool chosen;			/* requested by STROBE_WITHOUT */
};

/* Why a feature does not work: the first obstacle that holds. `result` is what kernel_feature_probe returned, below 0. */
void obstacle_for_feature(const char *proc, enum kernel_feature f, int result, struct obstacle *ret);

/* Whether the memory of a process may be read. Returns 0 if so; otherwise -errno and the obstacle. -ESRCH: it has ended. */
int obstacle_for_memory(const char *proc, const struct php_task *t, struct obstacle *ret);

/* The remedies for missing capabilities, and for kernel.yama.ptrace_scope below 3. */
const char *obstacle_remedy_capabilities(const char *proc);
const char *obstacle_remedy_ptrace_scope(const char *proc);

/* Why reading its memory failed with this errno. */
void obstacle_for_refusal(const char *proc, const struct php_task *t, int error, struct obstacle *ret);

/* Whether even its own user may not inspect it, as for workers of php-fpm by default. False for a process of root, for which
 * that cannot
 * be determined. */
bool process_is_not_dumpable(const char *proc, const struct php_task *t);

/* Whether the process numbers in `proc` are not those of the caller, as in a pid namespace without a /proc of
 * its own; a lookup by number would find other processes. */
bool obstacle_for_pid_namespace(const char *proc, struct obstacle *ret);

/* Whether /proc is mounted so that the caller sees no process of other users (hidepid). */
bool obstacle_for_hidepid(const char *proc, struct obstacle *ret);

#endif
