/* cpu_clock.c: the restartable sequence that is never entered, and the system call. */

#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif

#include <features.h>

#include "cpu_clock.h"

#ifdef CPU_CLOCK_RSEQ
#include <sys/rseq.h>

/* A descriptor like struct rseq_cs of linux/rseq.h (version and flags, start, length, abort address): when the kernel
 * clears the pointer to it, it checks that the signature precedes the abort address. */
extern const uint32_t strobe_rseq_cs[8] __attribute__((visibility("hidden")));

#if defined(__x86_64__)
#define ABORT	".long 0x53053053\n" "strobe_rseq_abort: ud2\n"
#else
#define ABORT	".inst 0xd428bc00\n" "strobe_rseq_abort: brk #0\n"
#endif

__asm__(".pushsection .data.rel.ro, \"aw\"\n"
	".balign 32\n"
	".globl strobe_rseq_cs\n"
	".hidden strobe_rseq_cs\n"
	"strobe_rseq_cs:\n"
	"	.long 0, 0\n"
	"	.quad strobe_rseq_start, 1, strobe_rseq_abort\n"
	".popsection\n"
	".pushsection .text\n"
	"strobe_rseq_start:\n"
	"	nop\n"
	"	nop\n"
	ABORT
	".popsection\n");

static volatile uint64_t *thread_flag(void)
{
	struct rseq *r;

	if (__rseq_size == 0)
		return NULL;
	r = (struct rseq *)((char *)__builtin_thread_pointer() + __rseq_offset);
	return (volatile uint64_t *)&r->rseq_cs;
}
#endif

const char *cpu_clock_name(void)
{
#ifdef CPU_CLOCK_RSEQ
	if (thread_flag())
		return "rseq";
#endif
	return "clock_gettime";
}

/* Updates `ahead` from the kernel. */
static uint64_t ask(struct cpu_clock *c)
{
	struct timespec t;

	/* The mark is set first, so that an interruption after it is noticed by the next read. */
	if (c->flag)
		*c->flag = c->mark;
	__asm__ volatile("" ::: "memory");
	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
	c->resyncs++;
	return c->offset + (uint64_t)(((double)t.tv_sec * 1e9 + (double)t.tv_nsec) * c->ticks_per_ns) - clock_ticks();
}

void cpu_clock_start(struct cpu_clock *c, double ns_per_tick)
{
	*c = (struct cpu_clock){ .ticks_per_ns = 1 / ns_per_tick };
#ifdef CPU_CLOCK_RSEQ
	c->flag = thread_flag();
	c->mark = (uint64_t)(uintptr_t)strobe_rseq_cs;
#endif
	c->ahead = ask(c);
	c->last = clock_ticks() + c->ahead;
}

void cpu_clock_stop(struct cpu_clock *c)
{
	if (c->flag && *c->flag == c->mark)
		*c->flag = 0;
	c->flag = NULL;
}

void cpu_clock_resync(struct cpu_clock *c)
{
	uint64_t ahead = ask(c);

	if ((int64_t)(ahead - c->ahead) < 0)
		c->ahead = ahead;
}

void cpu_clock_before_fork(struct cpu_clock *c)
{
	cpu_clock_resync(c);
	cpu_clock_synced_at(c, clock_ticks());
}

void cpu_clock_in_child(struct cpu_clock *c)
{
	c->offset = c->last;
	cpu_clock_resync(c);
}
