/* timers.c: the timers of timers.h. */

#ifdef HAVE_CONFIG_H
#include "config.h"
#endif

#include "timers.h"

#include "php_strobe.h"
#include "ticker.h"

#include "zend_atomic.h"
#include "zend_fibers.h"
#include "zend_observer.h"

#include <errno.h>
#include <pthread.h>

#define CLOCKS		TICKER_CLOCKS
#define FOREVER_NS	(INT64_MAX / 4)		/* longer times are as good as this one, and sums do not overflow */

/* A timer that is due all the time interrupts the program this often. */
#define MIN_DELAY_NS	20000

ZEND_TLS struct {
	struct strobe_timer *first;
	struct ticker_slot *slot;
	struct ticker_deadline published[CLOCKS];
	bool open;			/* a request runs */
	bool again;			/* something due could not be called: look again, by MIN_DELAY_NS from then */
	bool postponed;			/* the hooks behind ours have still to be called */
	unsigned depth;			/* callbacks that run and are not passive */
	bool forked;			/* this is a child whose timers have not been made to run again */
	int64_t cpu_at_fork;
} thread;

static bool up;			/* the module is */
static void (*next_interrupt)(zend_execute_data *frame);
static void (*tell_child)(void);

int64_t timer_now(enum timer_clock clock)
{
	return ticker_now(clock);
}

/* Runs in the ticker's thread, too. */
static void raise_interrupt(void *target)
{
	zend_atomic_bool_store_ex(target, true);
}

/* --- the list, and what the ticker knows of it */

static int64_t deadline(const struct strobe_timer *t)
{
	int64_t periods;

	if (!t->period_ns)
		return t->base_ns;
	if (__builtin_mul_overflow((int64_t)(t->done + 1), t->period_ns, &periods) ||
	    __builtin_add_overflow(t->base_ns, periods, &periods))
		return TICKER_NEVER;
	return periods;
}

static bool may_run(const struct strobe_timer *t)
{
	return t->passive || (!thread.depth && !EG(exception));
}

static void earlier(struct ticker_deadline *d, int64_t at, int64_t *second)
{
	if (at < d->at_ns) {
		*second = d->at_ns;
		d->at_ns = at;
	} else if (at < *second) {
		*second = at;
	}
}

/* The next two times at which the ticker has to interrupt this thread. */
static struct ticker_deadline next_deadline(enum timer_clock clock)
{
	struct ticker_deadline d = { TICKER_NEVER, 0 };
	int64_t second = TICKER_NEVER;

	for (const struct strobe_timer *t = thread.first; t; t = t->next) {
		int64_t at = deadline(t);

		if (t->clock != clock || (thread.depth && !t->passive))
			continue;
		earlier(&d, at, &second);
		if (t->period_ns && at < FOREVER_NS)
			earlier(&d, at + t->period_ns, &second);
	}
	if (second != TICKER_NEVER)
		d.gap_ns = second - d.at_ns > MIN_DELAY_NS ? second - d.at_ns : MIN_DELAY_NS;
	return d;
}

static void tell_ticker(enum timer_clock clock, struct ticker_deadline d)
{
	thread.published[clock] = d;
	ticker_set(thread.slot, clock, d);
}

/* Publishes all deadlines. `now` holds the time of each clock that has timers. */
static void publish(const int64_t *now)
{
	int64_t wake_by = TICKER_NEVER;

	for (enum timer_clock clock = TIMER_WALL; clock <= TIMER_CPU; clock++) {
		struct ticker_deadline d = next_deadline(clock);
		int64_t left;

		if (clock == TIMER_WALL && thread.again)
			d.at_ns = now[clock];
		if (d.at_ns == TICKER_NEVER && thread.published[clock].at_ns == TICKER_NEVER)
			continue;
		if (d.at_ns < now[clock] + MIN_DELAY_NS)
			d.at_ns = now[clock] + MIN_DELAY_NS;
		tell_ticker(clock, d);
		if (d.at_ns == TICKER_NEVER)
			continue;
		left = d.at_ns - now[clock];
		wake_by = MIN(wake_by, now[TIMER_WALL] + left);
	}
	if (wake_by != TICKER_NEVER)
		ticker_wake_by(wake_by);
}

static bool has_clock(enum timer_clock clock)
{
	for (const struct strobe_timer *t = thread.first; t; t = t->next)
		if (t->clock == clock)
			return true;
	return false;
}

/* The CPU clock is a system call. */
static void read_clocks(int64_t *now)
{
	now[TIMER_WALL] = timer_now(TIMER_WALL);
	now[TIMER_CPU] = has_clock(TIMER_CPU) ? timer_now(TIMER_CPU) : INT64_MIN / 2;
}

static void link_timer(struct strobe_timer *t)
{
	t->previous = NULL;
	t->next = thread.first;
	if (t->next)
		t->next->previous = t;
	thread.first = t;
	t->running = true;
}

static void unlink_timer(struct strobe_timer *t)
{
	if (t->previous)
		t->previous->next = t->next;
	else
		thread.first = t->next;
	if (t->next)
		t->next->previous = t->previous;
	t->next = t->previous = NULL;
	t->running = false;
}

static void stop_all(void)
{
	while (thread.first)
		unlink_timer(thread.first);
	thread.again = thread.postponed = false;
	if (!thread.slot)
		return;
	for (enum timer_clock clock = TIMER_WALL; clock <= TIMER_CPU; clock++)
		tell_ticker(clock, (struct ticker_deadline){ TICKER_NEVER, 0 });
	ticker_take(thread.slot);
}

/* --- starting and stopping */

/* In a forked child: a new ticker. The CPU time of the child's thread began at 0. */
static void go_on(void)
{
	int64_t now[CLOCKS];

	thread.forked = false;
	read_clocks(now);
	for (struct strobe_timer *t = thread.first; t; t = t->next)
		if (t->clock == TIMER_CPU)
			t->base_ns += now[TIMER_CPU] - thread.cpu_at_fork;
	if (ticker_start(raise_interrupt))
		stop_all();
	else
		publish(now);
	if (tell_child)
		tell_child();
}

int timer_start(struct strobe_timer *t, enum timer_clock clock, int64_t first_ns, int64_t period_ns)
{
	struct ticker_deadline d;
	int64_t now, wall;
	int r;

	if (!thread.open)
		return ECANCELED;
	if (UNEXPECTED(thread.forked))
		go_on();
	if (UNEXPECTED(!thread.slot) && !(thread.slot = STROBE_G(ticker_slot) = ticker_join(&EG(vm_interrupt))))
		return ENOMEM;
	if ((r = ticker_start(raise_interrupt)))
		return r;

	timer_stop(t);
	first_ns = MIN(MAX(first_ns, MIN_DELAY_NS), FOREVER_NS);
	t->clock = clock;
	t->period_ns = MIN(MAX(period_ns, 0), FOREVER_NS);
	now = timer_now(clock);
	t->base_ns = now + first_ns - t->period_ns;
	t->done = 0;
	link_timer(t);

	d = next_deadline(clock);
	tell_ticker(clock, d);
	wall = clock == TIMER_WALL ? now : timer_now(TIMER_WALL);
	ticker_wake_by(wall + first_ns);
	return 0;
}

void timer_stop(struct strobe_timer *t)
{
	if (!t->running)
		return;
	unlink_timer(t);
	if (!thread.forked)
		tell_ticker(t->clock, next_deadline(t->clock));
}

int64_t timer_left(const struct strobe_timer *t)
{
	int64_t left;

	if (!t->running)
		return 0;
	left = deadline(t) - timer_now(t->clock);
	return left > 0 ? left : 0;
}

/* --- expiry */

/* It may bail out, when a PHP function that it calls ends the request. */
static void call_guarded(struct strobe_timer *t, uint64_t periods, zend_execute_data *frame)
{
	thread.depth++;
	zend_fiber_switch_block();
	zend_try {
		t->expired(t, periods, frame);
	} zend_catch {
		zend_fiber_switch_unblock();
		thread.depth--;
		thread.again = true;
		zend_atomic_bool_store_ex(&EG(vm_interrupt), true);
		zend_bailout();
	} zend_end_try();
	zend_fiber_switch_unblock();
	thread.depth--;
}

static void expire(struct strobe_timer *t, const int64_t *now, zend_execute_data *frame)
{
	uint64_t periods = 1;

	if (t->period_ns) {
		periods = (uint64_t)((now[t->clock] - t->base_ns) / t->period_ns) - t->done;
		t->done += periods;
	} else {
		unlink_timer(t);
	}
	if (t->passive) {
		t->expired(t, periods, frame);
		return;
	}
	thread.depth++;		/* for now the ticker is only to look after those that may interrupt a callback */
	publish(now);
	thread.depth--;
	call_guarded(t, periods, frame);
}

/* What is due at that time, so that a callback which takes longer than a period cannot keep us here. */
static struct strobe_timer *next_due(const int64_t *now)
{
	struct strobe_timer *waiting = NULL;

	for (struct strobe_timer *t = thread.first; t; t = t->next) {
		if (deadline(t) > now[t->clock])
			continue;
		if (may_run(t))
			return t;
		waiting = t;
	}
	/* It waits for an exception to be handled. One that waits for a callback is seen when that returns. The flag of
	 * the VM must not be raised here: the VM looks at it before it handles the exception, and would never get to
	 * that. */
	thread.again |= waiting && !thread.depth;
	return NULL;
}

static void run_due(zend_execute_data *frame)
{
	struct strobe_timer *t;
	int64_t now[CLOCKS];

	thread.again = false;
	read_clocks(now);
	while ((t = next_due(now)))
		expire(t, now, frame);
	if (now[TIMER_CPU] < 0 && has_clock(TIMER_CPU))
		now[TIMER_CPU] = timer_now(TIMER_CPU);
	publish(now);
}

static void look_again(void)
{
	int64_t now[CLOCKS];

	thread.again = true;
	read_clocks(now);
	publish(now);
}

/* The hook of the VM. Others in the chain (signal handlers of pcntl) are not called on top of an exception of ours,
 * because what they call would not run and be lost; they come when it has been handled. */
static void interrupt(zend_execute_data *frame)
{
	bool had_exception = EG(exception) != NULL;

	if (UNEXPECTED(thread.forked))
		go_on();
	if (thread.slot && (ticker_take(thread.slot) || thread.again))
		run_due(EG(current_execute_data));
	if (!next_interrupt)
		return;
	if (thread.slot && EG(exception) && (!had_exception || thread.postponed)) {
		thread.postponed = true;
		look_again();
		return;
	}
	thread.postponed = false;
	next_interrupt(frame);
}

/* A fatal error can come in the place of the interrupt: that of max_execution_time does. Shutdown functions follow. */
static void error_seen(int type, zend_string *file, uint32_t line, zend_string *message)
{
	if (thread.first && (type & (E_ERROR | E_CORE_ERROR | E_COMPILE_ERROR | E_USER_ERROR | E_RECOVERABLE_ERROR))) {
		thread.again = true;
		zend_atomic_bool_store_ex(&EG(vm_interrupt), true);
	}
}

/* --- forks */

static void before_fork(void)
{
	ticker_settle();
	if (thread.first && !thread.forked && has_clock(TIMER_CPU))
		thread.cpu_at_fork = timer_now(TIMER_CPU);
}

/* In the child, inside fork(): only stores. The interrupt brings us to go_on at the next safe point. */
static void after_fork(void)
{
	ticker_forget(thread.slot);
	if (!thread.first)
		return;
	thread.forked = true;
	zend_atomic_bool_store_ex(&EG(vm_interrupt), true);
}

/* --- life */

void timers_startup(void (*in_child)(void))
{
	up = true;
	tell_child = in_child;
	pthread_atfork(before_fork, NULL, after_fork);
	zend_observer_error_register(error_seen);
	next_interrupt = zend_interrupt_function;
	zend_interrupt_function = interrupt;
}

void timers_shutdown(void)
{
	up = false;
	ticker_stop();
	thread.slot = NULL;
	if (zend_interrupt_function == interrupt)
		zend_interrupt_function = next_interrupt;
}

void timers_request_start(void)
{
	thread.open = true;
	thread.depth = 0;
}

void timers_request_end(void)
{
	stop_all();
	thread.open = false;
	thread.forked = false;
}

/* The slots of threads that outlive the module are gone already. */
void timers_thread_end(struct ticker_slot *slot)
{
	if (!slot || !up)
		return;
	if (slot == thread.slot) {
		stop_all();
		thread.slot = NULL;
	}
	ticker_leave(slot);
}
