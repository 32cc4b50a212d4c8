/* sampler.h: takes samples of the running request and sends them.
 *
 * A timer of timers.h calls us at a safe point of the VM; the stack is merged into the trie, below the labels that hold at
 * that moment; the trie is sent when a request or unit ends, once a second in long ones, and when it has no room for more
 * stacks or sets of labels: one message per set. Each PHP thread has its own trie and its own connection.
 *
 * Sampling is decided separately for the request and each unit in it (api/unit_class.c). The timer runs while any of
 * them is sampled; ticks of the others are skipped, by STROBE_G(unsampled).
 */
#ifndef STROBE_SAMPLER_H
#define STROBE_SAMPLER_H

#include "sender.h"

#define SAMPLER_TIMES 128

/* Counted since the process began, in all its threads; for phpinfo(). */
struct sampler_stats {
	uint64_t requests;		/* that were sampled, units among them */
	uint64_t samples;		/* periods that were attributed */
	uint64_t interrupts;		/* stacks walked: a late one counts for several periods */
	uint64_t overhead_ns;		/* spent on them */
	uint64_t times[SAMPLER_TIMES];	/* histogram of their durations, by quarter octaves of nanoseconds */
	uint64_t no_thread;		/* requests not sampled because no thread could be created */
	uint64_t no_memory;		/* the same, for memory */
	uint64_t prevented;		/* the same, for the reason of sampler_prevented */
	uint64_t messages;		/* handed over */
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

/* Decides for the request; the result is in STROBE_G(unsampled). */
void sampler_request_start(void);

/* Ends all sampled work of the request; the same. */
void sampler_request_ending(void);
void sampler_request_end(void);

/* Whether to sample work that begins now: by strobe.mode, and at random by strobe.request_rate. */
bool sampler_draw(void);

/* Work that is sampled begins. False if it cannot be, which is counted. Its labels are those of the request until it ends. */
bool sampler_hold(void);

/* It ends; its samples are sent. Before its labels cease to hold sampler_releasing must have been called: the last period may be over,
 * and if nothing else is sampled no tick comes for it any more. */
void sampler_releasing(void);
void sampler_release(void);

/* Sends the samples that there are. */
void sampler_flush(void);


/* In GSHUTDOWN, with STROBE_G(sampler) of the thread that ends; NULL is fine. */
struct sampler;
void sampler_thread_end(struct sampler *s);

/* Takes a pending tick now: before labels change, since it belongs to the previous ones. */
void sampler_catch_up(void);

bool sampler_active(void);		/* the request of this thread is sampled */
enum sampler_state sampler_state(void);

/* The reason in one sentence why this process cannot take samples now, or NULL if it can. */
const char *sampler_prevented(void);

/* The connection of this thread; NULL if it never had a sample. */
const struct sender *sampler_sender(void);

/* Samples of the running request up to now, and for how many seconds they have been taken. */
uint64_t sampler_request_samples(double *ret_seconds);

void sampler_stats(struct sampler_stats *ret);

/* The quantile of the durations of stack walks, in nanoseconds, to a quarter octave. */
uint64_t sampler_time_share(const struct sampler_stats *stats, double share);

#endif
