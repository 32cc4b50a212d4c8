/* confine.h: limits that a child process sets for itself, so that its input cannot harm the daemon. */
#ifndef BASE_CONFINE_H
#define BASE_CONFINE_H

#include <sys/resource.h>
#include <sys/types.h>

/* Terminates this process when its parent `parent` ends, or if it has ended already. */
void confine_die_with(pid_t parent);

/* Makes the kernel kill this process first if memory runs out. */
void confine_prefer_oom_kill(void);

void confine_limit(int what, rlim_t n);		/* setrlimit(2) */

/* Ends the process with SIGXCPU after this much CPU time. */
void confine_cpu(rlim_t seconds);

/* Limits memory and address space to `bytes` above the current usage, including malloc's free memory. Has no effect
 * under AddressSanitizer, where every process has terabytes. */
void confine_memory(rlim_t bytes);

/* Closes all but the standard descriptors and these two, which may be equal: connections that the daemon closes
 * should end, and its sockets and locks should not stay open in a child. */
void confine_close_others(int keep, int keep_too);

/* Suppresses the last message, "out of memory", which the parent reports. */
void confine_be_quiet(void);

#endif
