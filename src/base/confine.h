/* confine.h: limits that a child process puts on itself, so that its input cannot harm the daemon. */
#ifndef BASE_CONFINE_H
#define BASE_CONFINE_H

#include <sys/resource.h>
#include <sys/types.h>

/* Ends with `parent`, its parent, also if that has ended already. */
void confine_die_with(pid_t parent);

/* Is what the kernel ends first when memory ends. */
void confine_prefer_oom_kill(void);

void confine_limit(int what, rlim_t n);		/* setrlimit(2) */

/* After so many seconds of CPU time it ends by SIGXCPU. */
void confine_cpu(rlim_t seconds);

/* Limits memory and address space to `bytes` above what the process has now, malloc's free memory included. Not under
 * AddressSanitizer, where every process has terabytes. */
void confine_memory(rlim_t bytes);

/* Connections that the daemon closes are to end, and its sockets and locks are not to live on in a child: closes all but the
 * standard descriptors and these two, which may be equal. */
void confine_close_others(int keep, int keep_too);

/* The last message, "out of memory", is reported by the parent. */
void confine_be_quiet(void);

#endif
