/* ticks.h: the cheapest clock that can be trusted, in ticks.
 *
 * A read of the processor's counter takes 10 ns where clock_gettime takes 23. x86's TSC serves when the processor says
 * that it runs at a constant rate in all power states and the kernel itself keeps time by it (it checks that all
 * processors agree); arm64's generic timer always does. Elsewhere a tick is a nanosecond of CLOCK_MONOTONIC.
 *
 * This file and clock.c are all that knows about processors: another one needs a line here.
 */
#ifndef STROBE_CLOCK_H
#define STROBE_CLOCK_H

#include <stdbool.h>
#include <stdint.h>
#include <time.h>

#if defined(__x86_64__)
#include <x86intrin.h>
#endif

extern bool clock_is_counter;		/* decided by clock_startup, before any thread */

static inline uint64_t clock_monotonic_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

/* The processor's counter, for when clock_is_counter. */
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

/* The time in ticks. Only differences of two readings of one thread are meaningful. */
static inline uint64_t clock_ticks(void)
{
	return __builtin_expect(clock_is_counter, 1) ? clock_counter() : clock_monotonic_ns();
}

/* Looks at the processor. Once, when PHP starts. */
void clock_startup(void);

/* Nanoseconds per tick, measured over the time since clock_startup; waits until that is 1 ms (it is, except in a
 * process that traces its very first instruction). */
double clock_ns_per_tick(void);

/* "TSC", "cntvct" or "clock_gettime". */
const char *clock_name(void);

#endif
