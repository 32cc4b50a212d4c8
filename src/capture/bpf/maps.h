/* maps.h: the tables of the sampler, and its counters. */
#ifndef CAPTURE_BPF_MAPS_H
#define CAPTURE_BPF_MAPS_H

#include "event.h"
#include "perl_walk.h"
#include "php_walk.h"

#include <bpf/bpf_helpers.h>

const volatile struct sampler_settings settings;

/* Raised when user space forgets all descriptions: everything is sent again. */
u32 epoch = 1;

/* One switch in 2^skip_shift is kept and stands for the others. */
u32 skip_shift;

/* The walk over sleeping threads requests processes and reports no thread. */
bool only_ask;

/* Files: those that user space has described, and all that were requested. */
struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, 1024);
	__type(key, struct binary_key);
	__type(value, struct binary);
} binaries SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_LRU_HASH);
	__uint(max_entries, 8192);
	__type(key, struct binary_key);
	__type(value, u32);
} asked_binaries SEC(".maps");

/* libphp by tgid, and when it was last requested for a process that may have loaded it. */
struct {
	__uint(type, BPF_MAP_TYPE_LRU_HASH);
	__uint(max_entries, 4096);
	__type(key, u32);
	__type(value, struct hosted_php);
} hosted SEC(".maps");

struct asked_host {
	u64 at_ns, wait_ns;
};

struct {
	__uint(type, BPF_MAP_TYPE_LRU_HASH);
	__uint(max_entries, 4096);
	__type(key, u32);
	__type(value, struct asked_host);
} asked_hosts SEC(".maps");

/* Processes to sample, by pid in the caller's namespace; the value is when they started, in clock ticks. Processes
 * that have ended make room for others; each second, user space adds those that match a pattern. */
struct {
	__uint(type, BPF_MAP_TYPE_LRU_HASH);
	__uint(max_entries, 16384);
	__type(key, u32);
	__type(value, u64);
} targets SEC(".maps");

u32 cgroup_count;

struct {
	__uint(type, BPF_MAP_TYPE_CGROUP_ARRAY);
	__uint(max_entries, CGROUPS_MAX);
	__uint(key_size, 4);
	__uint(value_size, 4);
} cgroups SEC(".maps");

/* Ids that user space has been told about; the value is the epoch. */
struct {
	__uint(type, BPF_MAP_TYPE_LRU_HASH);
	__uint(max_entries, 65536);
	__type(key, u64);
	__type(value, u32);
} known_functions SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_LRU_HASH);
	__uint(max_entries, 65536);
	__type(key, u64);
	__type(value, u32);
} known_stacks SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_LRU_HASH);
	__uint(max_entries, 16384);
	__type(key, u32);
	__type(value, u64);
} known_processes SEC(".maps");

/* The table of counts that is in use. User space puts another one here and then reads this one: replacing an inner map
 * waits for the programs that still write to it, so nothing is lost and nothing counts twice. */
struct count_table {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, COUNT_ENTRIES);
	__type(key, struct count_key);
	__type(value, struct count);
};

struct count_table first_counts SEC(".maps"), second_counts SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY_OF_MAPS);
	__uint(max_entries, 1);
	__uint(key_size, 4);
	__array(values, struct count_table);
} counts SEC(".maps") = { .values = { &first_counts } };

struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, 32768);
	__type(key, u32);
	__type(value, struct waiting);
} waits SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_RINGBUF);
	__uint(max_entries, 4 << 20);
} events SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, COUNTERS);
	__type(key, u32);
	__type(value, u64);
} counters SEC(".maps");

/* One per program that can interrupt another one. */
enum context { CONTEXT_TICK, CONTEXT_SWITCH, CONTEXT_SLEEPERS, CONTEXT_FILE, CONTEXTS };

struct scratch {
	u32 language, pad;			/* enum binary_kind: whose frames are in `walk` */
	struct php_layout layout;		/* the PHP that is walked */
	struct php_walk walk;
	struct perl_layout perl_layout;
	struct perl_walk perl;
	struct function_event function;
	struct php_stack_event php;
	struct kernel_stack_event kernel;
	struct request_event request;
	struct sleeper_event sleeper;
};

struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, CONTEXTS);
	__type(key, u32);
	__type(value, struct scratch);
} scratches SEC(".maps");

static __always_inline bool is_known(void *table, const u64 *id)
{
	u32 *then = bpf_map_lookup_elem(table, id);

	return then && *then == epoch;
}

static __always_inline void set_known(void *table, const u64 *id)
{
	u32 now = epoch;

	bpf_map_update_elem(table, id, &now, BPF_ANY);
}

static __always_inline void count(u32 counter, u64 n)
{
	u64 *value = bpf_map_lookup_elem(&counters, &counter);

	if (value)
		*value += n;
}

#endif
