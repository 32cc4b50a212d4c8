/* maps.h: the tables of the sampler, and its counters. */
#ifndef CAPTURE_BPF_MAPS_H
#define CAPTURE_BPF_MAPS_H

#include "event.h"
#include "perl_walk.h"
#include "php_walk.h"

#include <bpf/bpf_helpers.h>

const volatile struct sampler_settings settings;

/* Incremented when user space forgets all descriptions, so that everything is sent again. */
u32 epoch = 1;

/* One in 2^skip_shift switches is recorded and represents the others. */
u32 skip_shift;

/* Makes the walk over sleeping threads request information about processes without reporting threads. */
bool only_ask;

/* Files that user space has described, and files it was asked about. */
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
} binary_requests SEC(".maps");

/* Locations of libphp by tgid, and when user space was last asked about a process that may have loaded it. */
struct {
	__uint(type, BPF_MAP_TYPE_LRU_HASH);
	__uint(max_entries, 4096);
	__type(key, u32);
	__type(value, struct hosted_php);
} hosted SEC(".maps");

struct ask_state {
	u64 at_ns, wait_ns;
};

struct {
	__uint(type, BPF_MAP_TYPE_LRU_HASH);
	__uint(max_entries, 4096);
	__type(key, u32);
	__type(value, struct ask_state);
} host_requests SEC(".maps");

/* Processes to sample, by pid in the caller's namespace; the value is their start time in clock ticks. Ended
 * processes are evicted; each second, user space adds those that match a pattern. */
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

/* Ids already reported to user space; the value is the epoch. */
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

/* The current table of counts. User space swaps in another one and then reads the previous one: replacing an inner
 * map waits for programs that still write to it, so nothing is lost or counted twice. */
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

/* One per program that may interrupt another one. */
enum context { CONTEXT_TICK, CONTEXT_SWITCH, CONTEXT_SLEEPERS, CONTEXT_FILE, CONTEXTS };

struct scratch {
	u32 language, pad;			/* enum binary_kind: the language of the frames in `walk` */
	struct php_layout layout;		/* that of the PHP being walked */
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
