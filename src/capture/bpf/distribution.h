/* distribution.h: the distribution of the durations of waits or calls: least, most, sum, and a histogram by powers of 2.
 *
 * Compiled for BPF and as plain C. */
#ifndef CAPTURE_BPF_DISTRIBUTION_H
#define CAPTURE_BPF_DISTRIBUTION_H

#include "file_event.h"
#include "user_memory.h"

/* Sum, least and most are in nanoseconds. The histogram counts microseconds: bucket 0 is for times below one, bucket
 * i for 2^(i-1) to 2^i - 1. */
struct distribution {
	u64 count, sum, min, max;
	u64 buckets[HISTOGRAM_BUCKETS];
};

static __always_inline u32 distribution_bucket(u64 ns)
{
	u64 us = ns / 1000;
	u32 log = 0;

	for (u32 half = 32; half; half /= 2)
		if (us >> half) {
			us >>= half;
			log += half;
		}
	return log + (u32)us;
}

/* Adds one time, or `weight` of them. */
static __always_inline void distribution_add(struct distribution *d, u64 ns, u64 weight)
{
	if (!d->count || ns < d->min)
		d->min = ns;
	if (ns > d->max)
		d->max = ns;
	d->count += weight;
	d->sum += ns * weight;
	d->buckets[distribution_bucket(ns) & (HISTOGRAM_BUCKETS - 1)] += weight;
}

#endif
