/* distribute.h: the distribution of the programs, one per CPU. */
#ifndef CAPTURE_BPF_DISTRIBUTE_H
#define CAPTURE_BPF_DISTRIBUTE_H

#include "distribution.h"

#include <bpf/bpf_helpers.h>

const volatile struct file_io_settings file_io;

struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, 1);
	__type(key, u32);
	__type(value, struct distribution);
} distributions SEC(".maps");

/* Adds one time, or `weight` of them. */
static __always_inline void distribute(u64 ns, u64 weight)
{
	u32 zero = 0;
	struct distribution *d;

	if (file_io.distribution && (d = bpf_map_lookup_elem(&distributions, &zero)))
		distribution_add(d, ns, weight);
}

#endif
