/* bpf_sampler.h: the BPF programs, loaded and attached, and their counts.
 *
 * Order of calls: open, add binaries and targets, start, drain about every second, stop, drain once more, close.
 * This file does not deal with names: events and counts are passed on as the kernel wrote them (bpf/event.h).
 */
#ifndef CAPTURE_BPF_SAMPLER_H
#define CAPTURE_BPF_SAMPLER_H

#include "bpf/distribution.h"
#include "bpf/event.h"
#include "bpf/file_event.h"
#include "err.h"
#include "unwind_maps.h"
#include <stdbool.h>
#include <stddef.h>

struct sampler;

struct sampler_options {
	struct sampler_settings settings;	/* the period and the kernel's features are filled in */
	unsigned hz;				/* rate of on-CPU samples; 0: none */
	bool off_cpu;
	bool file_io, other_kinds;		/* calls on files; also on sockets, pipes and others */
	bool distribution;			/* for off-CPU times, or for calls */
};

/* Receives everything drained: first events, then the counts that may refer to them. */
struct sampler_receiver {
	void *data;
	void (*event)(void *data, const void *event, size_t size);	/* begins with its type */
	void (*count)(void *data, const struct count_key *key, const struct count *count);
	void (*file_count)(void *data, const struct file_key *key, const struct file_count *count);
};

/* Tells whether this build includes the programs. */
extern const bool sampler_is_built;

/* Loads the programs; nothing runs yet. Returns -EPERM and others with a sentence about what is missing. */
int sampler_open(struct sampler **ret, const struct sampler_options *o, const struct sampler_receiver *r, struct err *err);
struct sampler *sampler_free(struct sampler *s);		/* NULL is fine; returns NULL */

int sampler_start(struct sampler *s, struct err *err);
void sampler_stop(struct sampler *s);

/* Sets the runtime of processes with this executable. */
void sampler_set_binary(struct sampler *s, const struct binary_key *key, const struct binary *b);

/* Makes the next process with this executable send an event again. */
void sampler_forget_binary(struct sampler *s, const struct binary_key *key);

/* Adds a process to sample (TARGET_PIDS), if it started at that time. */
void sampler_add_target(struct sampler *s, u32 pid, u64 start_ticks);

/* Sets the location of libphp in a process, by its number in the first pid namespace. sampler_sees_all_pids tells
 * whether the caller's numbers are the same. */
void sampler_set_hosted(struct sampler *s, u32 tgid, const struct hosted_php *php);
bool sampler_sees_all_pids(const struct sampler *s);

/* Adds a control group (version 2) to sample (TARGET_CGROUPS), by its open directory; at most CGROUPS_MAX. */
int sampler_add_cgroup(struct sampler *s, int directory, struct err *err);

/* Makes every currently sleeping thread of a PHP send an event (EVENT_SLEEPER). Returns -ENOTSUP if the kernel does
 * not support that. */
int sampler_find_sleepers(struct sampler *s, struct err *err);

/* Adds a wait that began before the programs were loaded; returns false if they already have one of this thread.
 * Removing only removes a wait that was added this way. */
bool sampler_add_wait(struct sampler *s, u32 tid, const struct waiting *w);
void sampler_remove_wait(struct sampler *s, u32 tid, const struct waiting *w);

/* Tables for native stacks, if enabled in the settings. */
const struct unwind_maps *sampler_unwind_maps(const struct sampler *s);

/* Waits up to `timeout_ms` for urgent events (new executables), and delivers them. Returns -EINTR after a signal. */
int sampler_poll(struct sampler *s, int timeout_ms, struct err *err);

/* Delivers everything counted so far. Nothing is lost or counted twice while the programs keep running. Also adapts
 * the share of switches that is recorded if there are too many. */
int sampler_drain(struct sampler *s, struct err *err);

/* Delivers the waits that have not ended, up to `until_ns`. Call after sampler_stop and the last sampler_drain. */
void sampler_drain_waits(struct sampler *s, u64 until_ns);

/* Makes the programs describe everything again the next time it is seen. */
void sampler_forget_names(struct sampler *s);

/* Calls `each` with every wait that has not ended, and its thread. */
void sampler_each_wait(struct sampler *s, void (*each)(void *data, u32 tid, const struct waiting *w), void *data);

/* Returns the distribution of all ended waits, or calls, and of those delivered by sampler_drain_waits. */
void sampler_distribution(const struct sampler *s, struct distribution *ret);

u64 sampler_counter(const struct sampler *s, enum counter c);

/* Returns 1 if every switch was recorded; n if at the busiest time one in n was, representing the others. */
unsigned sampler_switch_share(const struct sampler *s);

#endif
