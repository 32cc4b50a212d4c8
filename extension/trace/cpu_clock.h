/* cpu_clock.h: reads the CPU time of this thread, usually without a system call.
 *
 * While a thread is not preempted, its CPU time grows as fast as the clock, so one system call after each
 * interruption is enough, if interruptions can be detected. Linux makes that possible: it clears a thread's pointer
 * to its current "restartable sequence" (rseq(2), registered for every thread by glibc 2.35 and later) when the
 * thread is preempted, migrated or gets a signal outside that sequence. Ours is never entered. A read costs 1 to 3 ns
 * in addition to reading the clock; CLOCK_THREAD_CPUTIME_ID costs 500 to 1,200.
 *
 * Some interruptions go unnoticed: the CPU of a virtual machine can be taken away without its kernel noticing, which
 * later may or may not subtract that from CPU time. So between two reads this clock never goes back, and never
 * advances by more than the time that passed: no call can have used more than its caller, or more than its elapsed
 * time. If it is ahead of the kernel's value, it stops until that has caught up.
 *
 * Without rseq (an older C library, musl, a kernel or processor without support) every read is a system call.
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
	uint64_t mark;			/* value of the flag if nothing has happened */
	uint64_t ahead;			/* CPU time minus the clock, in ticks, modulo 2^64; never grows */
	uint64_t last;			/* last value read */
	uint64_t offset;		/* CPU time of the parent process before the fork */
	double ticks_per_ns;
	uint64_t resyncs;		/* system calls made */
};

/* Begins to observe the calling thread. */
void cpu_clock_start(struct cpu_clock *c, double ns_per_tick);

/* Returns the source of the calling thread's CPU time: "rseq" or "clock_gettime". */
const char *cpu_clock_name(void);

/* Stops that: the kernel must not have a pointer of ours once the library is unloaded or the thread has ended. */
void cpu_clock_stop(struct cpu_clock *c);

/* Queries the kernel. */
void cpu_clock_resync(struct cpu_clock *c);

/* Call these around a fork: a child's CPU time begins at zero, but calls begun in its parent continue in it. */
void cpu_clock_before_fork(struct cpu_clock *c);
void cpu_clock_in_child(struct cpu_clock *c);

/* Whether nothing has happened since the kernel was queried. */
static inline bool cpu_clock_is_synced(const struct cpu_clock *c)
{
	return __builtin_expect(c->flag && *c->flag == c->mark, 1);
}

/* Returns the CPU time of the thread in ticks, while synced; `ticks` was just read from the clock. */
static inline uint64_t cpu_clock_synced_at(struct cpu_clock *c, uint64_t ticks)
{
	uint64_t cpu = ticks + c->ahead;

	return c->last = (int64_t)(cpu - c->last) < 0 ? c->last : cpu;
}

/* Does the same whether synced or not. */
static inline uint64_t cpu_clock_at(struct cpu_clock *c, uint64_t ticks)
{
	if (!cpu_clock_is_synced(c))
		cpu_clock_resync(c);	/* slightly later than `ticks` */
	return cpu_clock_synced_at(c, ticks);
}

#endif
