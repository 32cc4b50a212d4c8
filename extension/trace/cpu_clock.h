/* cpu_clock.h: the CPU time of this thread, mostly without a system call.
 *
 * While the thread has not been taken off its processor, its CPU time grows as fast as the clock; so one system call
 * after each interruption is enough, if interruptions can be detected. Linux makes that possible: the pointer to the
 * "restartable sequence" that a thread publishes for the kernel (rseq(2), registered for every thread by glibc 2.35
 * and later) is cleared when the thread is preempted, migrated or gets a signal outside that sequence. Ours is one
 * that is never entered. A read costs 1 to 3 ns on top of that of the clock; CLOCK_THREAD_CPUTIME_ID costs 500 to
 * 1,200.
 *
 * A thread may have been interrupted without noticing: a virtual machine's processor can be taken away
 * without its kernel noticing, which later may or may not say that this was no CPU time. So between two reads the clock
 * never goes back, and never further than the time that passed: no call can have used more than its caller, or than the
 * time that it took. When it is ahead of the kernel's figure, it stands still until that has caught up.
 *
 * Without rseq (an older C library, musl, a kernel or processor that has none) every read is a system call.
 */
#ifndef STROBE_CPU_CLOCK_H
#define STROBE_CPU_CLOCK_H

#include "ticks.h"

#include <stddef.h>

#if defined(__linux__) && defined(__GLIBC__) && (defined(__x86_64__) || defined(__aarch64__)) && \
	(__GLIBC__ > 2 || __GLIBC_MINOR__ >= 35)
#define CPU_CLOCK_RSEQ 1
#endif

struct cpu_clock {
	volatile uint64_t *flag;	/* the thread's rseq_cs, NULL without rseq */
	uint64_t mark;			/* value of the flag while nothing has happened */
	uint64_t ahead;			/* CPU time less the clock, in ticks, modulo 2^64; never grows */
	uint64_t last;			/* last value read */
	uint64_t offset;		/* CPU time of the parent process before the fork */
	double ticks_per_ns;
	uint64_t resyncs;		/* system calls made */
};

/* Begins to watch the calling thread. */
void cpu_clock_start(struct cpu_clock *c, double ns_per_tick);

/* The source of the calling thread's CPU time: "rseq" or "clock_gettime". */
const char *cpu_clock_name(void);

/* Ends it: the kernel must hold no pointer of ours once the library is unloaded or the thread is gone. */
void cpu_clock_stop(struct cpu_clock *c);

/* Queries the kernel. */
void cpu_clock_resync(struct cpu_clock *c);

/* Around a fork: a child's CPU time begins at zero, but calls begun in its parent continue in it. */
void cpu_clock_before_fork(struct cpu_clock *c);
void cpu_clock_in_child(struct cpu_clock *c);

/* Whether nothing has happened since the kernel was queried. */
static inline bool cpu_clock_is_synced(const struct cpu_clock *c)
{
	return __builtin_expect(c->flag && *c->flag == c->mark, 1);
}

/* The CPU time of the thread in ticks, given the clock's reading of just now, while it is synced. */
static inline uint64_t cpu_clock_synced_at(struct cpu_clock *c, uint64_t ticks)
{
	uint64_t cpu = ticks + c->ahead;

	return c->last = (int64_t)(cpu - c->last) < 0 ? c->last : cpu;
}

/* The same, at any time. */
static inline uint64_t cpu_clock_at(struct cpu_clock *c, uint64_t ticks)
{
	if (!cpu_clock_is_synced(c))
		cpu_clock_resync(c);	/* as of a little later than `ticks` */
	return cpu_clock_synced_at(c, ticks);
}

#endif
