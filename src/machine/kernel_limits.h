/* kernel_limits.h: settings of the kernel that forbid inspecting processes. */
#ifndef MACHINE_KERNEL_LIMITS_H
#define MACHINE_KERNEL_LIMITS_H

#include <limits.h>

#define LIMIT_UNKNOWN	INT_MIN		/* this kernel has no such setting, or it may not be read */

struct kernel_limits {
	int perf_event_paranoid;	/* -1 … 4; 3 and 4 are Debian's and Android's */
	int ptrace_scope;		/* Yama: 0 … 3 */
	char lockdown[24];		/* "none", "integrity", "confidentiality", or "" */
	char release[65];		/* "6.18.1" */
};

/* `root` is "" but in tests: where /proc and /sys are. */
void kernel_limits_read(const char *root, struct kernel_limits *ret);

#endif
