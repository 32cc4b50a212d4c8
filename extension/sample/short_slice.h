/* short_slice.h: requests short scheduling slices on Linux, for a thread that runs only for microseconds but must be
 * on time.
 *
 * Since Linux 6.6 a thread that wakes up on a busy CPU usually waits until the running thread blocks or its slice, a
 * few milliseconds, is over; and the scheduler tends to put threads of one process on the same CPU. A ticker would
 * then see the program only when it blocks. A thread that requests a shorter slice (since Linux 6.12) runs
 * immediately.
 */
#ifndef STROBE_SHORT_SLICE_H
#define STROBE_SHORT_SLICE_H

#include <sched.h>
#include <stdint.h>
#include <sys/syscall.h>
#include <unistd.h>

#define SHORT_SLICE_NS 100000

/* Applies to the calling thread. Older kernels ignore it. */
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
