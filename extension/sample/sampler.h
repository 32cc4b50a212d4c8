/* sampler.h: takes samples of the running request and sends them.
 *
 * A timer of timers.h calls us at a safe point of the VM; the stack is merged into the trie; the trie is sent at the
 * end of the request, and once a second in long ones. Each PHP thread has its own trie and its own connection.
 */
#ifndef STROBE_SAMPLER_H
#define STROBE_SAMPLER_H

#include "sender.h"

#define SAMPLER_TIMES 128

/* Counted since the process began, in all its threads; for phpinfo(). */
struct sampler_stats {
	uint64_t requests;		/* that were sampled */
	uint64_t samples;		/* periods that were attributed */
	uint64_t interrupts;		/* stacks looked at: a late one stands for several periods */
	uint64_t overhead_ns;		/* spent on them */
	uint64_t times[SAMPLER_TIMES];	/* how often one took how long, by quarter octaves of nanoseconds */
	uint64_t no_thread;		/* requests not sampled because no thread could be made */
	uint64_t no_memory;		/* the same, for memory */
	uint64_t messages;		/* handed over */
	uint64_t lost[STROBE_DROP_REASONS];	/* samples */
};

void sampler_startup(void);
void sampler_shutdown(void);

void sampler_request_start(void);
void sampler_request_end(void);

/* In GSHUTDOWN, with STROBE_G(sampler) of the thread that ends; NULL is fine. */
struct sampler;
void sampler_thread_end(struct sampler *s);

bool sampler_active(void);		/* the request of this thread is sampled */
bool sampler_connected(void);		/* this thread is connected to the daemon */
void sampler_stats(struct sampler_stats *ret);

/* The time that this share of the stacks stayed below, in nanoseconds, to a quarter octave. */
uint64_t sampler_time_share(const struct sampler_stats *stats, double share);

#endif
