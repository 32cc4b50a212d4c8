/* short_slice.h: short scheduling slices on Linux, for a thread that runs for microseconds, on time.
 *
 * Since Linux 6.6 a thread that wakes up on a processor where another one runs mostly waits until that one blocks or
 * its slice, some milliseconds, is over; and the scheduler likes to put the threads of one process on one processor. A
 * ticker would then only see the program at moments when it waits. One that requests a shorter slice (since Linux
 * 6.12) runs at once.
 */
#ifndef STROBE_SHORT_SLICE_H
#define STROBE_SHORT_SLICE_H

#include <sched.h>
#include <stdint.h>
#include <sys/syscall.h>
#include <unistd.h>

#define SHORT_SLICE_NS 100000

/* For the calling thread. Older kernels ignore it. */
static inline void request_short_slice(void)
{
	/* struct sched_attr, which C libraries do not declare yet. */
	struct {
		uint32_t size, policy;
		uint64_t flags;
		int32_t nice;
		uint32_t priority;
		uint64_t runtime, deadline, period;
	} attr = { 0 };

	if (syscall(SYS_sched_getattr, 0, &attr, (unsigned)sizeof(attr), 0u) || attr.policy != SCHED_OTHER)
		return;
	attr.size = sizeof(attr);
	attr.runtime = SHORT_SLICE_NS;
	syscall(SYS_sched_setattr, 0, &attr, 0u);
}

#endif
