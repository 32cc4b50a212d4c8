/* task_status.h: credentials and restrictions of a process: user, groups, capabilities, system call filter. */
#ifndef MACHINE_TASK_STATUS_H
#define MACHINE_TASK_STATUS_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#define TASK_GROUPS	128

struct task_status {
	uid_t uid;			/* effective ids, with which files are opened */
	gid_t gids[TASK_GROUPS];	/* the group of the process first, then the supplementary ones */
	size_t gid_count;
	uint64_t capabilities;		/* effective: 1 << CAP_… */
	int seccomp;			/* 0 none, 1 strict, 2 a filter; -1: unknown */
	pid_t parent;
};

/* Reads the text of /proc/PID/status; false if malformed. */
bool task_status_parse(const char *text, struct task_status *ret);

/* Reads `proc`/`pid`/status; returns 0, -errno, or -EBADMSG. */
int task_status_read(const char *proc, const char *pid, struct task_status *ret);

/* Whether the process has the capability, directly or as part of CAP_SYS_ADMIN, which includes CAP_BPF and
 * CAP_PERFMON. */
bool task_has_capability(const struct task_status *who, int capability);

bool task_is_member(const struct task_status *who, gid_t gid);

#endif
