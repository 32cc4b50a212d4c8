/* realtime.h: the time of day. */
#ifndef STROBE_REALTIME_H
#define STROBE_REALTIME_H

#include <stdint.h>
#include <time.h>

/* Nanoseconds since 1970. */
static inline uint64_t realtime_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_REALTIME, &t);
	return (uint64_t)t.tv_sec * 1000000000 + (uint64_t)t.tv_nsec;
}

#endif
