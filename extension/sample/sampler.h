/* sampler.h: takes samples of the running request and sends them.
 *
 * A timer of timers.h calls us at a safe point of the VM. The stack is merged into the trie, below the current
 * labels. The trie is sent when a request or unit ends, once a second in long ones, and when it has no room for more
 * stacks or sets of labels: one message per set. Each PHP thread has its own trie and its own connection.
 *
 * Sampling is decided separately for the request and each unit in it (api/unit_class.c). The timer runs while any of
 * them is sampled; ticks of the others are skipped, by STROBE_G(unsampled).
 */
#ifndef STROBE_SAMPLER_H
#define STROBE_SAMPLER_H

#include "sender.h"

#define SAMPLER_TIMES 128

/* Counts since the process began, over all threads; for phpinfo(). */
struct sampler_stats {
	uint64_t requests;		/* sampled requests and units */
	uint64_t samples;		/* periods that became samples */
	uint64_t interrupts;		/* stacks walked: a late one covers several periods */
	uint64_t overhead_ns;		/* time spent on them */
	uint64_t times[SAMPLER_TIMES];	/* histogram of their durations, by quarter octaves of nanoseconds */
	uint64_t no_thread;		/* requests not sampled because no thread could be created */
	uint64_t no_memory;		/* requests not sampled for lack of memory */
	uint64_t prevented;		/* requests not sampled for the reason of sampler_prevented */
	uint64_t messages;		/* messages sent */
	uint64_t lost[STROBE_DROP_REASONS];	/* samples */
};

/* The reason why the running request is sampled or not. */
enum sampler_state {
	SAMPLER_NO_REQUEST,		/* none has begun */
	SAMPLER_SAMPLED,
	SAMPLER_OFF,			/* strobe.mode */
	SAMPLER_NOT_CHOSEN,		/* by strobe.request_rate */
	SAMPLER_PRELOADING,
	SAMPLER_PREVENTED,		/* see sampler_prevented */
	SAMPLER_NO_THREAD,
	SAMPLER_NO_MEMORY,
};

void sampler_startup(void);
void sampler_shutdown(void);

/* Decides whether to sample the request; the result is in STROBE_G(unsampled). */
void sampler_request_start(void);

/* Ends all sampled work of the request. */
void sampler_request_ending(void);
void sampler_request_end(void);

/* Decides whether to sample work that begins now: by strobe.mode, and at random by strobe.request_rate. */
bool sampler_draw(void);

/* Begins sampling of work. False if that is impossible, which is counted. Until the work ends, its labels are those
 * of the request. */
bool sampler_hold(void);

/* Ends sampling of work, and sends its samples. Call sampler_releasing before the labels change: the last period may
 * have ended, and if nothing else is sampled there will be no further tick. */
void sampler_releasing(void);
void sampler_release(void);

/* Sends the samples taken so far. */
void sampler_flush(void);

/* Call it in GSHUTDOWN, with STROBE_G(sampler) of the ending thread; NULL is fine. */
struct sampler;
void sampler_thread_end(struct sampler *s);

/* Takes a pending tick now. Call it before labels change, since the tick belongs to the previous ones. */
void sampler_catch_up(void);

bool sampler_active(void);		/* the request of this thread is sampled */
enum sampler_state sampler_state(void);

/* Returns the reason, in one sentence, why this process cannot take samples now; NULL if it can. */
const char *sampler_prevented(void);

/* Returns the connection of this thread; NULL if it never had a sample. */
const struct sender *sampler_sender(void);

/* Returns the number of samples of the running request so far, and the seconds during which they were taken. */
uint64_t sampler_request_samples(double *ret_seconds);

void sampler_stats(struct sampler_stats *ret);

/* Returns a quantile of the durations of stack walks, in nanoseconds, to a quarter octave. */
uint64_t sampler_time_share(const struct sampler_stats *stats, double share);

#endif
