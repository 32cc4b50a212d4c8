/* recorder_private.h: private declarations of the recorder. */
#ifndef CAPTURE_RECORDER_PRIVATE_H
#define CAPTURE_RECORDER_PRIVATE_H

#include "bpf_sampler.h"
#include "cgroups.h"
#include "native_registry.h"
#include "open_waits.h"
#include "php_registry.h"
#include "process_labels.h"
#include "recorder.h"
#include "remote_sampler.h"
#include "sleepers.h"

#include <regex.h>

struct target {
	pid_t pid;
	uint64_t start_ticks;
};

struct recorder {
	struct recorder_options options;
	struct sampler_options sampling;
	struct sampler *sampler;
	struct remote_sampler *remote;	/* used instead if BPF is not permitted */
	struct remote_targets remote_targets;
	struct err fallback;		/* the reason for that */
	struct php_registry *registry;
	struct native_registry *native;	/* NULL without native frames */
	struct stack_registry *stacks, *next_registry;	/* next_registry: while one is replaced by another */
	struct open_waits *open_waits;	/* NULL: waits are counted when they end */
	struct process_labels *processes_seen, *next_processes;
	char host[256];
	struct target *targets;		/* from -p */
	size_t target_count, target_capacity;
	size_t refusals;		/* files refused so far */
	struct err refused;		/* why the PHP of one of `targets` was refused during the recording */
	int cgroups[CGROUPS_MAX];
	size_t cgroup_count;
	bool has_pattern;
	regex_t pattern;
	int64_t started_ns, ended_ns, drained_ns;
	unsigned processes;
	unsigned unseen;		/* processes of -p that may not be inspected */
	u8 languages;			/* languages of the processes of -p */
	struct count taken[SAMPLE_KINDS];	/* total of recorder_take */
	struct file_count files_taken[FILE_OPERATIONS];
	struct sleepers *sleepers;	/* NULL if not needed */
	bool blind_start;		/* threads that slept at the start are unknown */
	bool ended_early;		/* the last process of -p has ended */
};

/* --- recorder_targets.c: selects processes */

int recorder_add_targets(struct recorder *r, struct err *err);

/* Registers a process, so that it is known before its first sample, and counts it if it is a target. */
void recorder_see_process(pid_t pid, void *data);

bool recorder_in_cgroups(const struct recorder *r, pid_t pid);

/* Selects by pattern, --fpm and control groups. For the sampler that reads memory; BPF programs get a list of targets
 * instead. */
bool recorder_is_wanted(void *data, pid_t pid);

/* Returns false once the last process of -p has ended, or its number was reused. */
bool recorder_targets_live(const struct recorder *r);

/* Files of -p are examined at the start, but may be refused later. Refusals of other files are ignored. */
void recorder_note_refusals(struct recorder *r);

/* --- recorder.c */

struct sampler_receiver recorder_receiver(struct recorder *r);

/* Collects the counts of both tables. */
int recorder_drain_both(struct recorder *r, struct err *err);

/* --- recorder_summary.c: totals since the start */

struct count recorder_sum(const struct recorder *r, enum sample_kind kind);
struct file_count recorder_file_sum(const struct recorder *r, enum file_operation operation);

#endif
