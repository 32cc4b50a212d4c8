/* recorder.h: a recording of PHP processes: its targets, its lifecycle, and its results.
 *
 * Order of calls: open, start, run repeatedly, stop, then the profile and the summary. Knows nothing about files and
 * pictures.
 */
#ifndef CAPTURE_RECORDER_H
#define CAPTURE_RECORDER_H

#include "bpf/distribution.h"
#include "err.h"
#include "record_summary.h"
#include "stack_registry.h"
#include "strobe_wire.h"
#include <stdbool.h>
#include <stdint.h>

struct recorder;

struct recorder_options {
	/* The targets; if all are empty: every PHP. */
	const char *const *pids;
	size_t pid_count;
	const char *pattern;			/* extended regular expression of the command line */
	bool fpm;
	const char *const *cgroups, *const *containers;
	size_t cgroup_count, container_count;

	unsigned hz;				/* rate of on-CPU samples; 0: none */
	bool off_cpu;
	bool file_io;				/* calls that open, read and write files, instead of samples */
	bool other_kinds;			/* includes sockets, pipes and anonymous files */
	bool distribution;			/* for waits, or for calls */
	int64_t min_ns;				/* shorter waits and calls are left out */
	bool idle;				/* keep waits outside of any function */
	bool native, kernel;			/* include these frames beside those of PHP and Perl */
	u8 languages;				/* see languages.h; without BPF only PHP is supported */
	bool labels;				/* separate pools, containers, scripts and methods: recorder_take */
	bool pid_label;				/* count processes separately, too */
	const char *host;			/* the label `host`; NULL: the name of this machine */
	bool open_waits;			/* recorder_take counts elapsed time of open waits, not only ended ones */
	const char *php_offsets;		/* a file with more offsets of PHP, or NULL */
	const char *perl_offsets;		/* the same of Perl */
};

/* Loads the programs, or falls back to reading memory, and finds the processes; nothing is recorded yet. */
int recorder_open(struct recorder **ret, const struct recorder_options *o, struct err *err);
struct recorder *recorder_free(struct recorder *r);		/* NULL is fine; returns NULL */

int recorder_start(struct recorder *r, struct err *err);

/* Records for this long, or until a signal. Returns 1 to continue, 0 once the last process of `pids` has ended. */
int recorder_run(struct recorder *r, int64_t ns, struct err *err);

int recorder_stop(struct recorder *r, struct err *err);

/* Passes everything recorded since the last call to `take`, as a profile per set of labels, which `take` owns. The
 * recording continues, and its memory does not grow over time. */
int recorder_take(struct recorder *r, const struct stack_registry_layers *layers, void *data,
		  void (*take)(void *data, struct profile *p), struct err *err);

/* Returns the obstacle and its remedy if BPF is not permitted and memory is read instead (remote_sampler.h);
 * otherwise "". */
const char *recorder_fallback(const struct recorder *r);

/* Tells whether a process is one of the targets, provided that it runs a sampled language. */
bool recorder_wants(const struct recorder *r, pid_t pid);

/* Returns the time from the start until now, or until the end. */
int64_t recorder_elapsed_ns(const struct recorder *r);

/* Names of native frames; NULL without those. */
struct modules *recorder_modules(struct recorder *r);

/* Returns the languages that are sampled; if processes are given by number, the languages that they run. */
u8 recorder_languages(const struct recorder *r);

/* Returns the number of samples and waits lost since the start, and the reason; each sampling method has only one. */
uint64_t recorder_lost(const struct recorder *r, enum strobe_drop *ret_reason);

/* Returns the labels of everything sent: the host, and the sampler. */
void recorder_labels(const struct recorder *r, struct labels *ret);

/* Returns the durations of waits, or of calls; with `distribution`, after recorder_stop. */
void recorder_distribution(const struct recorder *r, struct distribution *ret);

struct stack_registry *recorder_stacks(struct recorder *r);
void recorder_summary(const struct recorder *r, struct record_summary *ret);

#endif
