/* remote_sampler.h: samples PHP processes by reading their memory (process_vm_readv), if BPF is not permitted.
 *
 * At each tick of a clock it observes each thread of its targets. The kernel reports whether a thread is on CPU, and its
 * stack is read while it does not run (consistent_read.h), so that no sample is torn; no process is ever stopped.
 *
 * The times are exact: how long each thread was on CPU, waited for one, and was blocked, by the scheduler's account.
 * Their attribution to stacks is sampled: the time since a thread's last sample goes to the stack of the next one.
 * Time left at the end is reported as between samples.
 *
 * Delivers the same events and counts as the BPF programs (bpf_sampler.h).
 */
#ifndef CAPTURE_REMOTE_SAMPLER_H
#define CAPTURE_REMOTE_SAMPLER_H

#include "remote_counts.h"
#include "remote_targets.h"
#include "bpf_sampler.h"

struct remote_sampler;

struct remote_options {
	unsigned hz;			/* ticks per second */
	bool on_cpu, off_cpu;
	bool idle;			/* keep waits outside of any function */
	bool requests;			/* count scripts and methods separately */
	bool per_process;		/* count processes separately */
	u64 min_ns;			/* shorter waits are counted, but not kept */
};

/* `targets` stays the caller's. */
struct remote_sampler *remote_sampler_new(const struct remote_options *o, struct remote_targets *targets,
					  const struct sampler_receiver *r);
struct remote_sampler *remote_sampler_free(struct remote_sampler *s);	/* NULL is fine; returns NULL */

/* Samples until a time (CLOCK_MONOTONIC). Returns 0, or -EINTR after a signal. */
int remote_sampler_run(struct remote_sampler *s, int64_t until_ns);

/* Delivers the waits that have not ended, up to now; they continue. */
void remote_sampler_drain(struct remote_sampler *s);

/* Makes everything described so far be described again when it is next seen. */
void remote_sampler_forget_names(struct remote_sampler *s);

/* Calls `each` with the key of every wait that has not ended. */
void remote_sampler_each_wait(struct remote_sampler *s, void (*each)(void *data, const struct count_key *key), void *data);

/* Observes sleeping threads once more, and drains. */
void remote_sampler_stop(struct remote_sampler *s);

void remote_sampler_counts(const struct remote_sampler *s, struct remote_counts *ret);
u64 remote_sampler_counter(const struct remote_sampler *s, enum counter c);

#endif
