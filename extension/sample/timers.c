/* timers.c: the timers of timers.h. */

#ifdef HAVE_CONFIG_H
#include "config.h"
#endif

#include "timers.h"

#include "delivery.h"
#include "guarded_read.h"
#include "jit.h"
#include "php_strobe.h"
#include "ticker.h"

#include "zend_fibers.h"
#include "zend_observer.h"

#include <errno.h>
#include <pthread.h>
#include <stdlib.h>

#define CLOCKS		TICKER_CLOCKS
#define FOREVER_NS	(INT64_MAX / 4)		/* longer times are as good as this one, and sums do not overflow */

/* A timer that is due all the time interrupts the program this often. */
#define MIN_DELAY_NS	20000

/* One that may be waiting is looked at this often at least, while timers wait for its calls. */
#define MAX_DELAY_NS	1000000000

/* What the ticker touches of a PHP thread. In memory of its own, since it may outlive the thread. */
struct alarm {
	struct ticker_slot *slot;
	zend_atomic_bool *flag;
	bool interrupts;		/* the flag is PHP's */
	zend_execute_data *const *leaf;	/* where the thread keeps its innermost frame; NULL: nothing is noted */
	struct tick_notes notes;
	struct tick_note taken[TICK_NOTES];	/* out of them, by the PHP thread */
	bool taking;				/* it is at that */
};

struct alarms {
	struct alarm of[LANES];
	struct found_functions found;	/* the PHP thread's own; here because thread-local memory is scarce */
	zend_atomic_bool call_due;	/* in thread-safe PHP */
};

struct lane {
	struct strobe_timer *first;
	struct ticker_deadline published[CLOCKS];
	bool again;			/* something due could not be called: look again, by MIN_DELAY_NS from then */
};

ZEND_TLS struct {
	struct lane lanes[LANES];
	struct alarms *alarms;
	bool open;			/* a request runs */
	bool postponed;			/* the hooks behind ours have still to be called */
	unsigned depth;			/* callbacks that run and are not passive */
	bool in_call;			/* timers_at_call runs */
	bool forked;			/* this is a child whose timers have not been made to run again */
	int64_t cpu_at_fork;
} thread;

#ifdef ZTS
static zend_atomic_bool never_due;
TSRM_TLS zend_atomic_bool *strobe_call_due TSRM_TLS_MODEL_ATTR = &never_due;
#else
zend_atomic_bool strobe_call_due;
#endif

static bool up;			/* the module is */
static void (*next_interrupt)(zend_execute_data *frame);
static void (*tell_child)(void);

int64_t timer_now(enum timer_clock clock)
{
	return ticker_now(clock);
}

/* Runs in the ticker's thread. A program that waits is let alone: at a safe point it is seen as soon as it goes on; at calls
 * it may go on without one, so it is looked at less and less often. Without a note, as for CPU time that the thread may not be
 * using now, the sample goes to the function that runs at the safe point. */
static int64_t raise_alarm(void *target, bool works, _Atomic bool *fired)
{
	int64_t now = ticker_now(0), before;
	struct alarm *a = target;
	bool waits = true;

	if (a->interrupts && jit_may_run()) {
		atomic_store(fired, true);
		return TICKER_NEVER;	/* another process or thread has just switched it on */
	}
	before = a->notes.tick_ns;
	if (a->leaf)
		waits = tick_note_write(&a->notes, a->leaf, now, works);
	atomic_store(fired, true);
	zend_atomic_bool_store_ex(a->flag, true);
	if (!waits)
		return 0;
	return a->interrupts ? TICKER_NEVER : MIN(now - before, MAX_DELAY_NS);
}

/* Brings us to a safe point soon, where those are safe. */
static void raise_interrupt(void)
{
	if (!jit_may_run())
		zend_atomic_bool_store_ex(&EG(vm_interrupt), true);
}

/* --- the lists, and what the ticker knows of them */

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
	return t->passive || t->lane == LANE_CALLS || (!thread.depth && !EG(exception));
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

/* The next two times at which the ticker has to raise the flag of this lane. */
static struct ticker_deadline next_deadline(const struct lane *l, enum timer_clock clock)
{
	struct ticker_deadline d = { TICKER_NEVER, 0 };
	int64_t second = TICKER_NEVER;

	for (const struct strobe_timer *t = l->first; t; t = t->next) {
		int64_t at = deadline(t);

		if (t->clock != clock || (thread.depth && !t->passive && t->lane == LANE_INTERRUPTS))
			continue;
		earlier(&d, at, &second);
		if (t->period_ns && at < FOREVER_NS)
			earlier(&d, at + t->period_ns, &second);
	}
	if (second != TICKER_NEVER)
		d.gap_ns = second - d.at_ns > MIN_DELAY_NS ? second - d.at_ns : MIN_DELAY_NS;
	return d;
}

static struct ticker_slot *slot_of(const struct lane *l)
{
	return thread.alarms->of[l - thread.lanes].slot;
}

static void tell_ticker(struct lane *l, enum timer_clock clock, struct ticker_deadline d)
{
	l->published[clock] = d;
	ticker_set(slot_of(l), clock, d);
}

/* Publishes all deadlines of a lane. `now` holds the time of each clock that has timers. */
static void publish(struct lane *l, const int64_t *now)
{
	int64_t wake_by = TICKER_NEVER;

	for (enum timer_clock clock = TIMER_WALL; clock <= TIMER_CPU; clock++) {
		struct ticker_deadline d = next_deadline(l, clock);
		int64_t left;

		if (clock == TIMER_WALL && l->again)
			d.at_ns = now[clock];
		if (d.at_ns == TICKER_NEVER && l->published[clock].at_ns == TICKER_NEVER)
			continue;
		if (d.at_ns < now[clock] + MIN_DELAY_NS)
			d.at_ns = now[clock] + MIN_DELAY_NS;
		tell_ticker(l, clock, d);
		if (d.at_ns == TICKER_NEVER)
			continue;
		left = d.at_ns - now[clock];
		wake_by = MIN(wake_by, now[TIMER_WALL] + left);
	}
	if (wake_by != TICKER_NEVER)
		ticker_wake_by(wake_by);
}

static bool has_clock(const struct lane *l, enum timer_clock clock)
{
	for (const struct strobe_timer *t = l->first; t; t = t->next)
		if (t->clock == clock)
			return true;
	return false;
}

/* The CPU clock is a system call. */
static void read_clocks(const struct lane *l, int64_t *now)
{
	now[TIMER_WALL] = timer_now(TIMER_WALL);
	now[TIMER_CPU] = has_clock(l, TIMER_CPU) ? timer_now(TIMER_CPU) : INT64_MIN / 2;
}

static void link_timer(struct strobe_timer *t)
{
	struct lane *l = &thread.lanes[t->lane];

	if (!l->first && t->lane == LANE_CALLS)
		delivery_watch_calls(true);
	t->previous = NULL;
	t->next = l->first;
	if (t->next)
		t->next->previous = t;
	l->first = t;
	t->running = true;
}

static void unlink_timer(struct strobe_timer *t)
{
	struct lane *l = &thread.lanes[t->lane];

	if (t->previous)
		t->previous->next = t->next;
	else
		l->first = t->next;
	if (t->next)
		t->next->previous = t->previous;
	t->next = t->previous = NULL;
	t->running = false;
	/* Not while PHP goes through the handlers of a function, of which this would take ours away. */
	if (!l->first && t->lane == LANE_CALLS && !thread.in_call)
		delivery_watch_calls(false);
}

/* Forgets ticks that were not taken. */
static void clear_alarm(struct alarm *a)
{
	ticker_take(a->slot);
	if (!a->taking)
		tick_notes_take(&a->notes, a->taken, timer_now(TIMER_WALL));
}

static void stop_lane(struct lane *l)
{
	while (l->first)
		unlink_timer(l->first);
	l->again = false;
	if (!thread.alarms)
		return;
	for (enum timer_clock clock = TIMER_WALL; clock <= TIMER_CPU; clock++)
		tell_ticker(l, clock, (struct ticker_deadline){ TICKER_NEVER, 0 });
	clear_alarm(&thread.alarms->of[l - thread.lanes]);
}

static void stop_all(void)
{
	for (enum timer_lane lane = 0; lane < LANES; lane++)
		stop_lane(&thread.lanes[lane]);
	thread.postponed = false;
}

/* --- the alarms of a thread */

/* The slots of threads that outlive the module are gone already. */
static void free_alarms(struct alarms *a)
{
	for (enum timer_lane lane = 0; up && lane < LANES; lane++)
		if (a->of[lane].slot)
			ticker_leave(a->of[lane].slot);
	free(a);
}

static bool join_ticker(void)
{
	struct alarms *a = calloc(1, sizeof(*a));
	const char *reason;

	if (!a)
		return false;
	a->of[LANE_INTERRUPTS].flag = &EG(vm_interrupt);
	a->of[LANE_INTERRUPTS].interrupts = true;
	for (enum timer_lane lane = 0; guarded_read_works(&reason) && lane < LANES; lane++) {
		a->of[lane].leaf = &EG(current_execute_data);
		tick_notes_init(&a->of[lane].notes);
	}
#ifdef ZTS
	strobe_call_due = &a->call_due;
#endif
	a->of[LANE_CALLS].flag = &STROBE_CALL_DUE;
	for (enum timer_lane lane = 0; lane < LANES; lane++)
		if (!(a->of[lane].slot = ticker_join(&a->of[lane]))) {
			free_alarms(a);
#ifdef ZTS
			strobe_call_due = &never_due;
#endif
			return false;
		}
	thread.alarms = STROBE_G(alarms) = a;
	return true;
}

/* --- starting and stopping */

/* In a forked child: a new ticker. The CPU time of the child's thread began at 0. */
static void go_on(void)
{
	int64_t now[CLOCKS];

	thread.forked = false;
	for (enum timer_lane lane = 0; lane < LANES; lane++) {
		struct lane *l = &thread.lanes[lane];

		clear_alarm(&thread.alarms->of[lane]);
		read_clocks(l, now);
		for (struct strobe_timer *t = l->first; t; t = t->next)
			if (t->clock == TIMER_CPU)
				t->base_ns += now[TIMER_CPU] - thread.cpu_at_fork;
		if (!l->first)
			continue;
		if (ticker_start(raise_alarm))
			stop_lane(l);
		else
			publish(l, now);
	}
	if (tell_child)
		tell_child();
}

/* Where the callback of a timer can be called in this request; LANES if nowhere. */
static enum timer_lane lane_for(const struct strobe_timer *t)
{
	bool looks = t->passive || t->allocates;

	if (t->at_calls)
		return delivery_has_calls() ? LANE_CALLS : LANES;
	switch (delivery_way()) {
	case DELIVERY_INTERRUPTS:
		return LANE_INTERRUPTS;
	case DELIVERY_CALLS:
		return looks ? LANE_CALLS : LANES;
	default:
		return LANES;
	}
}

int timer_start(struct strobe_timer *t, enum timer_clock clock, int64_t first_ns, int64_t period_ns)
{
	enum timer_lane lane = lane_for(t);
	struct lane *l = &thread.lanes[lane % LANES];
	int64_t now, wall;
	int r;

	if (!thread.open)
		return ECANCELED;
	if (lane == LANES)
		return ENOTSUP;
	if (UNEXPECTED(thread.forked))
		go_on();
	if (UNEXPECTED(!thread.alarms) && !join_ticker())
		return ENOMEM;
	if ((r = ticker_start(raise_alarm)))
		return r;

	timer_stop(t);
	first_ns = MIN(MAX(first_ns, MIN_DELAY_NS), FOREVER_NS);
	t->lane = lane;
	t->clock = clock;
	t->period_ns = MIN(MAX(period_ns, 0), FOREVER_NS);
	now = timer_now(clock);
	t->base_ns = now + first_ns - t->period_ns;
	t->done = 0;
	link_timer(t);

	wall = clock == TIMER_WALL ? now : timer_now(TIMER_WALL);
	if (!t->next)		/* the first of them */
		atomic_store(&thread.alarms->of[lane].notes.since_ns, wall);
	tell_ticker(l, clock, next_deadline(l, clock));
	ticker_wake_by(wall + first_ns);
	return 0;
}

void timer_stop(struct strobe_timer *t)
{
	struct lane *l = &thread.lanes[t->lane];

	if (!t->running)
		return;
	unlink_timer(t);
	if (!thread.forked)
		tell_ticker(l, t->clock, next_deadline(l, t->clock));
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
static void call_guarded(struct strobe_timer *t, uint64_t periods, const struct moment *m)
{
	thread.depth++;
	zend_fiber_switch_block();
	zend_try {
		t->expired(t, periods, m);
	} zend_catch {
		zend_fiber_switch_unblock();
		thread.depth--;
		thread.lanes[LANE_INTERRUPTS].again = true;
		thread.alarms->of[LANE_INTERRUPTS].taking = false;
		raise_interrupt();
		zend_bailout();
	} zend_end_try();
	zend_fiber_switch_unblock();
	thread.depth--;
}

/* What is told to the callbacks of one lane now. */
struct expiry {
	struct lane *lane;
	int64_t now[CLOCKS];
	zend_execute_data *frame;		/* what runs, or ran until now */
	const struct tick_note *notes;		/* of the ticks that led here, the newest last */
	unsigned count;				/* 0: nothing was noted */
	int64_t ns;				/* that all notes stand for */
};

static void find_moment(struct moment *m, const struct expiry *x, unsigned i)
{
	m->frame = x->frame;
	m->returned_count = 0;
	m->more = false;
	if (i < x->count)
		moment_find(m, &x->notes[i], x->frame, &thread.alarms->found);
}

static uint64_t periods_by(const struct strobe_timer *t, int64_t at)
{
	int64_t whole = at < t->base_ns ? 0 : (at - t->base_ns) / t->period_ns;

	return (uint64_t)whole > t->done ? (uint64_t)whole - t->done : 0;
}

/* The periods are shared out by the time that each note stands for. */
static void expire_passive(struct strobe_timer *t, const struct expiry *x)
{
	uint64_t total = periods_by(t, x->now[t->clock]), told = 0;
	int64_t ns = 0;
	struct moment m;

	for (unsigned i = 0; (i == 0 || i < x->count) && t->running; i++) {
		uint64_t until = total;

		if (i + 1 < x->count) {
			ns += x->notes[i].ns;
			until = (uint64_t)((double)total * (double)ns / (double)x->ns + 0.5);
		}
		if (until <= told)
			continue;
		find_moment(&m, x, i);
		m.more = until < total;
		t->done += until - told;
		t->expired(t, until - told, &m);
		told = until;
	}
}

static void expire(struct strobe_timer *t, struct expiry *x)
{
	uint64_t periods = 1;
	struct moment m;

	if (t->passive && t->period_ns) {
		expire_passive(t, x);
		return;
	}
	find_moment(&m, x, x->count ? x->count - 1 : 0);
	if (t->period_ns) {
		periods = periods_by(t, x->now[t->clock]);
		t->done += periods;
	} else {
		unlink_timer(t);
	}
	if (t->passive || x->lane == &thread.lanes[LANE_CALLS]) {
		t->expired(t, periods, &m);
		return;
	}
	thread.depth++;		/* for now the ticker is only to look after those that may interrupt a callback */
	publish(x->lane, x->now);
	thread.depth--;
	call_guarded(t, periods, &m);
}

/* What is due at that time, so that a callback which takes longer than a period cannot keep us here. */
static struct strobe_timer *next_due(struct expiry *x)
{
	struct strobe_timer *waiting = NULL;

	for (struct strobe_timer *t = x->lane->first; t; t = t->next) {
		if (deadline(t) > x->now[t->clock])
			continue;
		if (may_run(t))
			return t;
		waiting = t;
	}
	/* It waits for an exception to be handled. One that waits for a callback is seen when that returns. The flag of
	 * the VM must not be raised here: the VM looks at it before it handles the exception, and would never get to
	 * that. */
	x->lane->again |= waiting && !thread.depth;
	return NULL;
}

static void run_due(struct expiry *x)
{
	struct strobe_timer *t;

	x->lane->again = false;
	read_clocks(x->lane, x->now);
	while ((t = next_due(x)))
		expire(t, x);
	if (x->now[TIMER_CPU] < 0 && has_clock(x->lane, TIMER_CPU))
		x->now[TIMER_CPU] = timer_now(TIMER_CPU);
	publish(x->lane, x->now);
}

/* A callback that runs PHP code may be interrupted in its turn: the notes are then those of the outer one. */
static void run_lane(enum timer_lane lane, zend_execute_data *frame)
{
	struct alarm *a = &thread.alarms->of[lane];
	struct expiry x = { .lane = &thread.lanes[lane], .frame = frame, .notes = a->taken };
	int64_t now = timer_now(TIMER_WALL);
	bool outer = a->taking;

	if (!outer) {
		a->taking = true;
		x.count = tick_notes_take(&a->notes, a->taken, now);
	}
	if (x.count)
		a->taken[x.count - 1].ns += now - a->taken[x.count - 1].last_ns;
	for (unsigned i = 0; i < x.count; i++)
		x.ns += x.notes[i].ns;
	run_due(&x);
	a->taking = outer;
}

void timers_at_call(zend_execute_data *frame)
{
	zend_atomic_bool_store_ex(&STROBE_CALL_DUE, false);
	if (UNEXPECTED(thread.forked))
		go_on();
	if (!thread.alarms)
		return;
	if (!ticker_take(thread.alarms->of[LANE_CALLS].slot) && !thread.lanes[LANE_CALLS].again) {
		clear_alarm(&thread.alarms->of[LANE_CALLS]);
		return;
	}
	thread.in_call = true;
	run_lane(LANE_CALLS, frame);
	thread.in_call = false;
}

/* Only what the ticker has noted: what is due by the clock alone gets its tick in a moment. But who keeps a stack of calls needs no
 * note, and is told by the clock, however late the ticker is. The frame of the function of ours
 * that is asked is no part of what ran, unless it was there at the tick. */
void timer_catch_up(struct strobe_timer *t)
{
	zend_execute_data *frame = EG(current_execute_data);

	if (!t->running || thread.forked)
		return;
	ticker_finish(thread.alarms->of[t->lane].slot);		/* a note in progress belongs to the time before */
	if (!ticker_take(thread.alarms->of[t->lane].slot) && !(t->at_calls && deadline(t) <= timer_now(t->clock)))
		return;
	if (frame && frame->func && !ZEND_USER_CODE(frame->func->type) && frame->prev_execute_data)
		frame = frame->prev_execute_data;
	if (t->lane == LANE_CALLS) {
		thread.lanes[LANE_CALLS].again = true;
		timers_at_call(frame);
	} else {
		run_lane(LANE_INTERRUPTS, frame);
	}
}

static void look_again(void)
{
	struct lane *l = &thread.lanes[LANE_INTERRUPTS];
	int64_t now[CLOCKS];

	l->again = true;
	read_clocks(l, now);
	publish(l, now);
}

/* The hook of the VM. Others in the chain (signal handlers of pcntl) are not called on top of an exception of ours,
 * because what they call would not run and be lost; they come when it has been handled. */
static void interrupt(zend_execute_data *frame)
{
	bool had_exception = EG(exception) != NULL;
	struct alarms *a = thread.alarms;

	if (UNEXPECTED(thread.forked))
		go_on();
	if (a && (ticker_take(a->of[LANE_INTERRUPTS].slot) || thread.lanes[LANE_INTERRUPTS].again))
		run_lane(LANE_INTERRUPTS, EG(current_execute_data));
	else if (a)
		clear_alarm(&a->of[LANE_INTERRUPTS]);	/* a note that came when its tick had been taken already */
	if (!next_interrupt)
		return;
	if (a && EG(exception) && (!had_exception || thread.postponed)) {
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
	struct lane *l = &thread.lanes[LANE_INTERRUPTS];

	if (l->first && (type & (E_ERROR | E_CORE_ERROR | E_COMPILE_ERROR | E_USER_ERROR | E_RECOVERABLE_ERROR))) {
		l->again = true;
		raise_interrupt();
	}
}

/* Those that only look go on at calls. Nothing is raised any more when the ticker has been seen to hold no alarm of the
 * lane; what it raised before is taken by the function call that brought us here, before any compiled code runs. */
void timers_interrupts_unsafe(void)
{
	struct lane *l = &thread.lanes[LANE_INTERRUPTS];
	struct strobe_timer *moved = NULL, *t;

	while ((t = l->first)) {
		unlink_timer(t);
		t->next = moved;
		moved = t;
	}
	stop_lane(l);
	if (thread.alarms)
		ticker_quiesce(thread.alarms->of[LANE_INTERRUPTS].slot);
	while ((t = moved)) {
		moved = t->next;
		t->next = NULL;
		if (lane_for(t) == LANE_CALLS && t->period_ns)
			timer_start(t, t->clock, t->period_ns, t->period_ns);
	}
}

/* --- forks */

static void before_fork(void)
{
	ticker_settle();
	if (thread.forked)
		return;
	for (enum timer_lane lane = 0; lane < LANES; lane++)
		if (has_clock(&thread.lanes[lane], TIMER_CPU))
			thread.cpu_at_fork = timer_now(TIMER_CPU);
}

/* In the child, inside fork(): only stores. The flag brings us to go_on at the next safe point or call. */
static void after_fork(void)
{
	struct ticker_slot *own[LANES] = { NULL };

	guarded_read_in_child();
	for (enum timer_lane lane = 0; thread.alarms && lane < LANES; lane++)
		own[lane] = thread.alarms->of[lane].slot;
	ticker_forget(own, LANES);
	thread.forked = thread.lanes[LANE_INTERRUPTS].first || thread.lanes[LANE_CALLS].first;
	if (thread.lanes[LANE_INTERRUPTS].first)
		raise_interrupt();
	if (thread.lanes[LANE_CALLS].first)
		zend_atomic_bool_store_ex(&STROBE_CALL_DUE, true);
}

/* --- life */

void timers_startup(void (*in_child)(void))
{
	up = true;
	tell_child = in_child;
	guarded_read_startup();
	pthread_atfork(before_fork, NULL, after_fork);
	zend_observer_error_register(error_seen);
	next_interrupt = zend_interrupt_function;
	zend_interrupt_function = interrupt;
}

void timers_shutdown(void)
{
	up = false;
	ticker_stop();
	if (zend_interrupt_function == interrupt)
		zend_interrupt_function = next_interrupt;
}

void timers_request_start(void)
{
	thread.open = true;
	thread.in_call = false;
	thread.depth = 0;
	if (thread.alarms)
		found_functions_clear(&thread.alarms->found);
}

/* The ticker loads from the thread's heap, which PHP frees before it tells us that the thread has ended. */
static void wait_for_notes(void)
{
#ifdef ZTS
	for (enum timer_lane lane = 0; thread.alarms && lane < LANES; lane++)
		ticker_quiesce(thread.alarms->of[lane].slot);
#endif
}

void timers_request_end(void)
{
	stop_all();
	wait_for_notes();
	thread.open = false;
	thread.forked = false;
}

void timers_thread_end(struct alarms *a)
{
	if (!a)
		return;
	if (a == thread.alarms) {
		if (up)
			stop_all();
		thread.alarms = NULL;
#ifdef ZTS
		strobe_call_due = &never_due;
#endif
	}
	free_alarms(a);
}
