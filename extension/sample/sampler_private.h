/* sampler_private.h: the sampler of a PHP thread, shared by the implementation of sampler.h. */
#ifndef STROBE_SAMPLER_PRIVATE_H
#define STROBE_SAMPLER_PRIVATE_H

#include "closure_home.h"
#include "label_sets.h"
#include "message.h"
#include "php_strobe.h"
#include "random.h"
#include "realtime.h"
#include "request_labels.h"
#include "sampler.h"
#include "stack.h"
#include "strobe_assert.h"
#include "timers.h"
#include "trie.h"

#include <stdatomic.h>
#include <sys/types.h>

/* Written by the owning thread, read by any. */
struct counters {
	_Atomic uint64_t requests, samples, interrupts, overhead_ns, no_thread, prevented, messages;
	_Atomic uint64_t times[SAMPLER_TIMES], lost[STROBE_DROP_REASONS];
};

/* One per PHP thread that has been sampled. Samplers of threads that have ended are reused, and freed only when the
 * module shuts down, so the list may be walked at any time. */
struct sampler {
	struct sampler *next;
	_Atomic bool used;

	bool active;			/* samples are taken */
	unsigned holders;		/* number of works that are sampled: the request and its units */
	bool prevented;			/* sampling was requested, but is impossible */
	int64_t began_ns;		/* if so, on its clock: when the first sample was due, minus a period */
	int64_t began_wall_ns;		/* CLOCK_MONOTONIC: start of the request */
	uint64_t before;		/* samples of previous requests */
	int64_t reported_ns;		/* CLOCK_MONOTONIC: when losses were last reported without samples; 0: never */
	struct strobe_timer timer;
	bool cpu;
	int64_t period_ns;
	size_t max_depth;
	bool lines;			/* executed lines are recorded, too */
	int64_t flush_ns;		/* CLOCK_MONOTONIC: time of the next message */
	uint64_t start_ns;		/* since 1970: start of the time covered by the trie */

	pid_t pid;
	unsigned forks;			/* the count of sampler_threads.c at the last check */
	struct random random;

	struct stack stack;
	struct trie trie;
	struct label_sets *sets;
	uint32_t labels_version;	/* version in STROBE_G for which `root` is valid */
	unsigned root;			/* root in the trie for the current labels; LABEL_SETS: unknown */
	struct message_scratch *scratch;
	struct request_labels labels;	/* labels of the request, without those set by the program */
	char path[108];			/* path of the socket, for the ticker's thread, which sends samples while this one cannot */
	const zend_strobe_globals *globals;	/* globals of the thread, for the same purpose */
	const struct closure_homes *homes;
	_Atomic uint32_t sequence;		/* changes with the samples or their meaning; odd during a change */
	struct sender sender;
	struct counters counters;
};

#ifdef ZTS
extern TSRM_TLS struct sampler *strobe_thread_sampler;
#else
extern struct sampler *strobe_thread_sampler;
#endif
#define THREAD_SAMPLER strobe_thread_sampler	/* the calling thread's; NULL before its first sampled request */

static inline void sampler_count(_Atomic uint64_t *counter, uint64_t n)
{
	uint64_t before = atomic_load_explicit(counter, memory_order_relaxed);

	atomic_store_explicit(counter, before + n, memory_order_relaxed);
}

/* Call these around each change of data that open_call.c reads, which makes `sequence` odd in between. Returns false
 * for a nested change; call sampler_changed only if true. */
static inline bool sampler_changing(struct sampler *s)
{
	uint32_t sequence = atomic_load_explicit(&s->sequence, memory_order_relaxed);

	if (sequence & 1)
		return false;
	atomic_store_explicit(&s->sequence, sequence + 1, memory_order_relaxed);
	atomic_thread_fence(memory_order_release);
	return true;
}

static inline void sampler_changed(struct sampler *s, bool began)
{
	STROBE_ASSERT(atomic_load_explicit(&s->sequence, memory_order_relaxed) & 1);
	if (began)
		atomic_store_explicit(&s->sequence, atomic_load_explicit(&s->sequence, memory_order_relaxed) + 1, memory_order_release);
}

static inline enum timer_clock sampler_clock(const struct sampler *s)
{
	return s->cpu ? TIMER_CPU : TIMER_WALL;
}

/* --- sampler.c */

/* Starts the timer, and a new period of time covered by samples. */
void sampler_begin(struct sampler *s);

/* --- samples.c: samples until they are sent */

/* Called by the timer. */
void sampler_take(struct strobe_timer *timer, uint64_t periods, const struct tick_snapshot *m);

/* Sends the trie's samples and empties it; or only empties it. */
void sampler_send(struct sampler *s);
void sampler_forget(struct sampler *s);
int64_t sampler_next_flush(void);

/* Losses are sent with samples. Without samples, because they cannot be taken or requests are short, an occasional
 * message reports only losses. */
void sampler_report_losses(struct sampler *s, bool last);

/* Publishes the sender's counts for other threads. */
void sampler_publish(struct sampler *s);

/* --- open_call.c */

/* With strobe.flush_waiting, makes the ticker report calls in which the thread reaches no safe point. */
void sampler_watch(struct sampler *s);

/* --- sampler_threads.c: the samplers of all threads */

/* Returns this thread's sampler, created on first use; NULL without memory. */
struct sampler *sampler_get(void);

/* Maps the memory needed for samples. False without memory. */
bool sampler_map(struct sampler *s);

/* Whether this is a forked child, which has copies of its parent's samples, connections and random numbers, and a
 * single thread. */
bool sampler_is_child(const struct sampler *s);
void sampler_become_child(struct sampler *s);

/* Counts a request that is not sampled for lack of memory. */
void sampler_no_memory(void);

#endif
