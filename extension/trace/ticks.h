/* ticks.h: the cheapest reliable clock, in ticks.
 *
 * Reading the CPU's counter takes 10 ns, clock_gettime 23. x86's TSC is used if the CPU reports a constant rate in
 * all power states and the kernel itself uses it as its clock source (it checks that all CPUs agree); arm64's generic
 * timer is always used. Elsewhere a tick is a nanosecond of CLOCK_MONOTONIC.
 *
 * Only this file and ticks.c depend on the CPU architecture: another one needs a line here.
 */
#ifndef STROBE_TICKS_H
#define STROBE_TICKS_H

#include <stdbool.h>
#include <stdint.h>
#include <time.h>

#if defined(__x86_64__)
#include <x86intrin.h>
#endif

extern bool clock_is_counter;		/* set by clock_startup, before there are threads */

static inline uint64_t clock_monotonic_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

/* Reads the CPU's counter; only if clock_is_counter. */
static inline uint64_t clock_counter(void)
{
#if defined(__x86_64__)
	return __rdtsc();
#elif defined(__aarch64__)
	uint64_t v;

	__asm__ volatile("mrs %0, cntvct_el0" : "=r"(v));
	return v;
#else
	return clock_monotonic_ns();
#endif
}

/* Returns the time in ticks. Only differences between readings of the same thread are meaningful. */
static inline uint64_t clock_ticks(void)
{
	return __builtin_expect(clock_is_counter, 1) ? clock_counter() : clock_monotonic_ns();
}

/* Chooses the clock. Call it once, when PHP starts. */
void clock_startup(void);

/* Returns nanoseconds per tick, measured over the time since clock_startup. Waits until that is 1 ms (only needed in
 * a process that traces its very first instructions). */
double clock_ns_per_tick(void);

/* Returns "TSC", "cntvct" or "clock_gettime". */
const char *clock_name(void);

#endif
