/* ticks.c: chooses and calibrates the clock. */

#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif

#include "ticks.h"

#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#if defined(__x86_64__)
#include <cpuid.h>
#endif

#define SHORTEST_NS 1000000u
#define READINGS 5

bool clock_is_counter;

static uint64_t first_ticks, first_ns;

#if defined(__x86_64__)
/* Whether the kernel's own clock source is the TSC, which it uses only while all CPUs agree. */
static bool kernel_uses_tsc(void)
{
	char name[16] = "";
	int fd = open("/sys/devices/system/clocksource/clocksource0/current_clocksource", O_RDONLY | O_CLOEXEC);
	ssize_t n;

	if (fd < 0)
		return false;
	n = read(fd, name, sizeof(name) - 1);
	close(fd);
	return n == 4 && memcmp(name, "tsc\n", 4) == 0;
}

/* CPUID leaf 0x80000007, EDX bit 8: invariant TSC. */
static bool is_invariant(void)
{
	unsigned a, b, c, d;

	return __get_cpuid(0x80000007u, &a, &b, &c, &d) && (d & (1u << 8));
}
#endif

/* Reads both clocks at one moment. The thread may be preempted between two readings, so the closest of several pairs
 * is taken. */
static void read_both(uint64_t *ns, uint64_t *ticks)
{
	uint64_t closest = UINT64_MAX;

	for (unsigned i = 0; i < READINGS; i++) {
		uint64_t before = clock_ticks(), now = clock_monotonic_ns(), gap = clock_ticks() - before;

		if (gap >= closest)
			continue;
		closest = gap;
		*ns = now;
		*ticks = before + gap / 2;
	}
}

void clock_startup(void)
{
#if defined(__x86_64__)
	clock_is_counter = is_invariant() && kernel_uses_tsc();
#elif defined(__aarch64__)
	clock_is_counter = true;
#endif
	read_both(&first_ns, &first_ticks);
}

double clock_ns_per_tick(void)
{
	uint64_t ns, ticks;

	if (!clock_is_counter)
		return 1;
	do {
		read_both(&ns, &ticks);
	} while (ns - first_ns < SHORTEST_NS);
	return (double)(ns - first_ns) / (double)(ticks - first_ticks);
}

const char *clock_name(void)
{
#if defined(__aarch64__)
	return "cntvct";
#else
	return clock_is_counter ? "TSC" : "clock_gettime";
#endif
}
