/* kernel_limits.h: kernel settings that restrict inspecting processes. */
#ifndef MACHINE_KERNEL_LIMITS_H
#define MACHINE_KERNEL_LIMITS_H

#include <limits.h>

#define LIMIT_UNKNOWN	INT_MIN		/* this kernel lacks the setting, or it is not readable */

struct kernel_limits {
	int perf_event_paranoid;	/* -1 … 4; 3 and 4 are Debian's and Android's */
	int ptrace_scope;		/* Yama: 0 … 3 */
	char lockdown[24];		/* "none", "integrity", "confidentiality", or "" */
	char release[65];		/* "6.18.1" */
};

/* `root` contains /proc and /sys; "" except in tests. */
void kernel_limits_read(const char *root, struct kernel_limits *ret);

#endif
