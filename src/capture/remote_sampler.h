/* remote_sampler.h: samples PHP processes by reading their memory (process_vm_readv), for where BPF is not permitted.
 *
 * At each tick of a clock it looks at each thread of its targets. Whether a thread is on CPU the kernel says, and its
 * stack is read while it does not run (consistent_read.h), so that no sample is torn; no process is ever stopped.
 *
 * Exact are the times: how long each thread was on CPU, waited for one, and was blocked, by the scheduler's account.
 * Sampled is which stack gets them: what was measured since a thread's last sample goes to the stack of the next one.
 * Time left at the end is reported as between samples.
 *
 * Hands over the same events and counts as the BPF programs do (bpf_sampler.h).
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
	bool requests;			/* count scripts and methods apart */
	bool per_process;		/* count processes apart */
	u64 min_ns;			/* waits that are shorter are counted, not kept */
};

/* `targets` stays the caller's. */
struct remote_sampler *remote_sampler_new(const struct remote_options *o, struct remote_targets *targets,
					  const struct sampler_receiver *r);
struct remote_sampler *remote_sampler_free(struct remote_sampler *s);	/* NULL is fine; returns NULL */

/* Samples until a time (CLOCK_MONOTONIC). Returns 0, or -EINTR if a signal came. */
int remote_sampler_run(struct remote_sampler *s, int64_t until_ns);

/* Hands over the waits that have not ended, up to now; they go on. */
void remote_sampler_drain(struct remote_sampler *s);

/* Makes the programs describe again, when it is seen next, what they have described so far. */
void remote_sampler_forget_names(struct remote_sampler *s);

/* Calls `each` with the key of every wait that has not ended. */
void remote_sampler_each_wait(struct remote_sampler *s, void (*each)(void *data, const struct count_key *key), void *data);

/* The end: looks at sleeping threads once more, and drains. */
void remote_sampler_stop(struct remote_sampler *s);

void remote_sampler_counts(const struct remote_sampler *s, struct remote_counts *ret);
u64 remote_sampler_counter(const struct remote_sampler *s, enum counter c);

#endif
