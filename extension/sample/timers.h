/* timers.h: timers of a PHP thread, whose callbacks run in that thread.
 *
 * The thread of ticker.h raises a flag of the PHP thread whose deadline has passed. Depending on how callbacks can be
 * delivered (delivery.h), that is PHP's interrupt flag, which makes the VM call us at its next safe point, or a flag
 * that the call observer checks. No signal is sent, so no system call of the program is interrupted. At a safe point
 * a callback may do anything that PHP code may do; at a call it may only read. Starting and stopping a timer is a few
 * stores and no system call as long as the ticker's thread runs and need not wake earlier than planned.
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

/* Embedded in its owner, and zeroed before its first start. The owner fills the first six fields; all others are
 * private to the implementation. */
struct strobe_timer {
	/* Called with the number of periods that have expired since the last call, at least 1, and the calls that
	 * were running then: if the periods ended in different functions, it is called for each. It may start and
	 * stop any timer and free this one. At a safe point it may also run PHP code, throw and bail out; until it
	 * returns, no fiber is switched and only passive timers are called. */
	void (*expired)(struct strobe_timer *t, uint64_t periods, const struct tick_snapshot *m);
	void *owner;

	/* The callback only reads: it never runs PHP code, throws or bails out. So it can also be called while the
	 * callback of another timer runs, while an exception is pending, and at calls. */
	bool passive;

	/* The callback allocates PHP's memory, and so may bail out, but runs no PHP code: it can be called at calls. */
	bool allocates;

	/* The callback is called at calls and never at safe points: for owners that maintain a stack of observed
	 * calls. */
	bool at_calls;

	/* The callback needs executed lines. */
	bool lines;

	bool running;
	enum timer_lane lane;
	enum timer_clock clock;
	int64_t base_ns;	/* the k-th period ends at base + k × period */
	int64_t period_ns;	/* 0: one shot */
	uint64_t done;		/* periods reported */
	int64_t not_before_ns;	/* CLOCK_MONOTONIC: not due earlier, regardless of its clock */
	struct strobe_timer *next, *previous;
};

/* Starts or restarts the timer: it expires after `first_ns`, then every `period_ns` (0: only once, then it stops).
 * Returns 0, or an errno without changing anything: ENOTSUP if its callback cannot be delivered in this request
 * (delivery_reason explains that), another one if no thread could be created. */
int timer_start(struct strobe_timer *t, enum timer_clock clock, int64_t first_ns, int64_t period_ns);

/* Stops the timer: its callback is not called any more. Does nothing if it is not running. A running timer must not
 * be freed. */
void timer_stop(struct strobe_timer *t);

/* For functions of ours called by PHP code, before they change something that callbacks depend on: delivers a tick
 * that waits for a safe point or a call, and one that is overdue because the ticker was not scheduled. For a passive
 * timer, only passive ones are called. */
void timer_catch_up(struct strobe_timer *t);

/* Call it before stopping a timer: reports all expired periods, since the last one would get no tick. */
void timer_deliver_rest(struct strobe_timer *t);

/* Returns the number of periods that have expired at time `at` of its clock and have not been reported. The timer
 * must have a period. */
uint64_t timer_periods_due(const struct strobe_timer *t, int64_t at);
int64_t timer_overdue(const struct strobe_timer *t, int64_t at);

/* Returns the nanoseconds until it expires next; 0 if it is not running or already due. */
int64_t timer_left(const struct strobe_timer *t);

/* Reads a clock, in nanoseconds. */
int64_t timer_now(enum timer_clock clock);

/* Whether a timer that is called at calls may be due. The call observer checks this when a function begins or ends,
 * and if so calls timers_at_call with the frame that was running until now. */
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

/* Call it when interrupts are no longer safe in this PHP thread: after its return, PHP's flag is not raised any more.
 * Timers that can be called at calls continue there, others stop. */
void timers_interrupts_unsafe(void);

/* Call it in MINIT. `in_child` is called in a forked child, at the first callback or the next start of a timer, if
 * timers were running at the fork: they have been restarted, or all stopped because no thread could be created. */
void timers_startup(void (*in_child)(void));
void timers_shutdown(void);

void timers_request_start(void);
void timers_request_end(void);		/* stops running timers; none can be started until the next request */

/* Call it in GSHUTDOWN, with STROBE_G(alarms) of the ending thread; NULL is fine. The thread may have ended long ago:
 * PHP frees its data when another thread gets its number. */
struct alarms;
void timers_thread_end(struct alarms *a);

#endif
