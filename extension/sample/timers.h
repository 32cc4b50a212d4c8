/* timers.h: timers of a PHP thread, whose callbacks run in that thread at a safe point of the VM.
 *
 * The one thread of ticker.h raises EG(vm_interrupt) of the PHP thread whose deadline has come; the VM then calls us,
 * and we call what is due. No signal is sent, so no system call of the program is interrupted, and the callback may do
 * whatever PHP code may do. Starting and stopping a timer is a few stores and no system call as long as the ticker's
 * thread runs and need not wake earlier than it means to.
 *
 * Each PHP thread has its own list of timers and touches no other; the ticker reads only what ticker.h publishes for
 * it with atomics. After a fork the timers of the thread that forked go on in the child.
 */
#ifndef STROBE_TIMERS_H
#define STROBE_TIMERS_H

#include "php.h"

enum timer_clock { TIMER_WALL, TIMER_CPU };	/* CLOCK_MONOTONIC; CPU time of the PHP thread that owns it */

/* Embedded in its owner, zeroed before its first start. The first three fields are the owner's to fill; all others
 * belong to timers.c. */
struct strobe_timer {
	/* Called at a safe point with the periods that are over since the last call, at least 1. `frame` is the frame
	 * that was interrupted, as EG(current_execute_data). It may start and stop any timer, free this one, run PHP
	 * code, throw and bail out; no fiber is switched and no timer that is not passive is called until it
	 * returns. */
	void (*expired)(struct strobe_timer *t, uint64_t periods, zend_execute_data *frame);
	void *owner;

	/* Its callback only looks: it never runs PHP code, throws or bails out. Then it is also called while the
	 * callback of another timer runs, and while an exception is on its way. */
	bool passive;

	bool running;
	enum timer_clock clock;
	int64_t base_ns;	/* the k-th period is over at base + k × period */
	int64_t period_ns;	/* 0: one shot */
	uint64_t done;		/* periods told */
	struct strobe_timer *next, *previous;
};

/* Starts the timer, again if it runs: it expires after `first_ns`, then every `period_ns` (0: only once, after which it
 * is not running). Returns 0, or an errno and changes nothing when no thread could be made. */
int timer_start(struct strobe_timer *t, enum timer_clock clock, int64_t first_ns, int64_t period_ns);

/* No call comes any more after this. Fine if it does not run. A timer must not be freed while it runs. */
void timer_stop(struct strobe_timer *t);

/* Nanoseconds until it expires next, 0 if it does not run or is due already. */
int64_t timer_left(const struct strobe_timer *t);

/* The time of a clock, in nanoseconds. */
int64_t timer_now(enum timer_clock clock);

/* In MINIT. `in_child` is called in a forked child, at the first safe point or the next start of a timer, if timers ran
 * when it was forked: they run again, or have all been stopped because no thread could be made. */
void timers_startup(void (*in_child)(void));
void timers_shutdown(void);

void timers_request_start(void);
void timers_request_end(void);		/* stops what still runs; no timer can be started until the next request */

/* In GSHUTDOWN, with STROBE_G(ticker_slot) of the thread that ends; NULL is fine. It may have ended long ago: PHP frees
 * what it left when another thread gets its number. */
struct ticker_slot;
void timers_thread_end(struct ticker_slot *slot);

#endif
