/* timers.h: timers of a PHP thread, whose callbacks run in that thread.
 *
 * The one thread of ticker.h raises a flag of the PHP thread whose deadline has come. The flag depends on how
 * callbacks can be delivered (delivery.h): PHP's interrupt flag, at which the VM calls us at its next safe point, or
 * one that the call observer checks. No signal is sent, so no system call of the program is interrupted. At a safe
 * point a callback may do anything that PHP code may do; at a call it may only read. Starting and stopping a timer is a
 * few stores and no system call as long as the ticker's thread runs and need not wake earlier than planned.
 *
 * Each PHP thread has its own lists of timers and touches no other; the ticker reads only what ticker.h publishes for
 * it with atomics. After a fork the timers of the forking thread continue in the child.
 */
#ifndef STROBE_TIMERS_H
#define STROBE_TIMERS_H

#include "tick_snapshot.h"

#include "zend_atomic.h"

enum timer_clock { TIMER_WALL, TIMER_CPU };	/* CLOCK_MONOTONIC; CPU time of the PHP thread that owns it */

/* Delivery of callbacks: at safe points of the VM, or when functions begin and end. */
enum timer_lane { LANE_INTERRUPTS, LANE_CALLS, LANES };

/* Embedded in its owner, zeroed before its first start. The first six fields are the owner's to fill; all others
 * belong to the files behind this header. */
struct strobe_timer {
	/* Called with the number of periods that have expired since the last call, at least 1, and with what was running then:
	 * if they ended in different functions, it is called for each. It may start and stop any timer and free this one. At a
	 * safe point it may also run PHP code, throw and bail out; no fiber is switched and no timer that is not passive is
	 * called until it returns. */
	void (*expired)(struct strobe_timer *t, uint64_t periods, const struct tick_snapshot *m);
	void *owner;

	/* Its callback only reads: it never runs PHP code, throws or bails out. Then it is also called while the
	 * callback of another timer runs, while an exception is pending, and at calls. */
	bool passive;

	/* Its callback takes PHP's memory, and so may bail out, but runs no PHP code: it may be called at calls. */
	bool allocates;

	/* It is called at calls and never at safe points: for owners of a stack of observed calls. */
	bool at_calls;

	/* It needs executed lines. */
	bool lines;

	bool running;
	enum timer_lane lane;
	enum timer_clock clock;
	int64_t base_ns;	/* the k-th period is over at base + k × period */
	int64_t period_ns;	/* 0: one shot */
	uint64_t done;		/* periods reported */
	int64_t not_before_ns;	/* CLOCK_MONOTONIC: it is not due earlier, regardless of its clock */
	struct strobe_timer *next, *previous;
};

/* Starts the timer, again if it runs: it expires after `first_ns`, then every `period_ns` (0: only once, after which it
 * is not running). Returns 0, or an errno and changes nothing: ENOTSUP when its callback cannot be delivered in this
 * request (delivery_reason says why), another when no thread could be made. */
int timer_start(struct strobe_timer *t, enum timer_clock clock, int64_t first_ns, int64_t period_ns);

/* It is not called any more after this. Does nothing if it does not run. A timer must not be freed while it runs. */
void timer_stop(struct strobe_timer *t);

/* In a function of ours that PHP code has called, before something changes that callbacks depend on: a tick that waits for a
 * safe point
 * or a call is delivered now, and so is one that is overdue because the ticker got no processor. For a passive timer only
 * passive ones are called. */
void timer_catch_up(struct strobe_timer *t);

/* Before a timer is stopped: reports all expired periods, since the last of them gets no tick any more. */
void timer_deliver_rest(struct strobe_timer *t);

/* Periods that have expired at a time of its clock and have not been reported, and how long ago the first of them was over.
 * The timer has
 * a period. */
uint64_t timer_periods_due(const struct strobe_timer *t, int64_t at);
int64_t timer_overdue(const struct strobe_timer *t, int64_t at);

/* Nanoseconds until it expires next, 0 if it does not run or is due already. */
int64_t timer_left(const struct strobe_timer *t);

/* The time of a clock, in nanoseconds. */
int64_t timer_now(enum timer_clock clock);

/* Whether a timer may be due that is called at calls. The call observer checks this when a function begins or ends, and if so calls
 * timers_at_call with the frame that was running until now. */
#ifdef ZTS
extern TSRM_TLS zend_atomic_bool *strobe_call_due TSRM_TLS_MODEL_ATTR;
#define STROBE_CALL_DUE (*strobe_call_due)
#else
extern zend_atomic_bool strobe_call_due;
#define STROBE_CALL_DUE strobe_call_due
#endif

static zend_always_inline bool timers_due_at_call(void)
{
	return UNEXPECTED(zend_atomic_bool_load_ex(&STROBE_CALL_DUE));
}

void timers_at_call(zend_execute_data *frame);

/* Interrupts are no longer safe in this PHP thread: no flag of PHP's is raised any more when this returns. Timers that can be
 * called at calls continue there, others stop. */
void timers_interrupts_unsafe(void);

/* In MINIT. `in_child` is called in a forked child, at the first callback or the next start of a timer, if timers ran
 * when it was forked: they run again, or have all been stopped because no thread could be made. */
void timers_startup(void (*in_child)(void));
void timers_shutdown(void);

void timers_request_start(void);
void timers_request_end(void);		/* stops what still runs; no timer can be started until the next request */

/* In GSHUTDOWN, with STROBE_G(alarms) of the thread that ends; NULL is fine. It may have ended long ago: PHP frees
 * what it left when another thread gets its number. */
struct alarms;
void timers_thread_end(struct alarms *a);

#endif
