/* expiry.c: calls timers that are due. */

#ifdef HAVE_CONFIG_H
#include "config.h"
#endif

#include "expiry.h"

#include "interrupts.h"
#include "lanes.h"
#include "strobe_assert.h"
#include "timer_forks.h"

#include "zend_fibers.h"

/* The ticker usually arrives within 100 us. Its ticks record the running code, while periods noticed by reading the
 * clock in one of our functions are charged to that function's caller. */
#define OVERDUE_NS	500000

/* The callback may bail out, if a PHP function called by it ends the request. */
static void call_guarded(struct strobe_timer *t, uint64_t periods, const struct tick_snapshot *m)
{
	TIMER_THREAD.depth++;
	zend_fiber_switch_block();
	zend_try {
		t->expired(t, periods, m);
	} zend_catch {
		zend_fiber_switch_unblock();
		TIMER_THREAD.depth--;
		TIMER_THREAD.lanes[LANE_INTERRUPTS].again = true;
		TIMER_THREAD.alarms->of[LANE_INTERRUPTS].taking = false;
		interrupt_raise();
		zend_bailout();
	} zend_end_try();
	zend_fiber_switch_unblock();
	STROBE_ASSERT(TIMER_THREAD.depth > 0);
	TIMER_THREAD.depth--;
}

/* One invocation of a lane's callbacks. */
struct expiry {
	struct lane *lane;
	int64_t now[CLOCKS];
	zend_execute_data *frame;		/* the running frame, or the one that just ended */
	const struct tick_note *notes;		/* notes of the pending ticks, the newest last */
	unsigned count;				/* 0: no notes */
	int64_t ns;				/* time covered by all notes */
	bool passive;				/* only timers that just read are called: no safe point */
};

static void find_moment(struct tick_snapshot *m, const struct expiry *x, unsigned i)
{
	m->frame = x->frame;
	m->noted = NULL;
	m->returned_count = m->noted_count = 0;
	m->more = false;
	if (i < x->count)
		tick_snapshot_find(m, &x->notes[i], x->frame, &TIMER_THREAD.alarms->found);
	if (!m->frame)
		tick_snapshot_take_script(m);
}

uint64_t timer_periods_due(const struct strobe_timer *t, int64_t at)
{
	int64_t whole = at < t->base_ns ? 0 : (at - t->base_ns) / t->period_ns;

	return (uint64_t)whole > t->done ? (uint64_t)whole - t->done : 0;
}

int64_t timer_overdue(const struct strobe_timer *t, int64_t at)
{
	return at - timer_deadline(t);
}

/* Divides the periods among the notes in proportion to their time. */
static void expire_passive(struct strobe_timer *t, const struct expiry *x)
{
	uint64_t total = timer_periods_due(t, x->now[t->clock]), delivered = 0;
	int64_t ns = 0;
	struct tick_snapshot m;

	for (unsigned i = 0; (i == 0 || i < x->count) && t->running; i++) {
		uint64_t until = total;

		if (i + 1 < x->count) {
			ns += x->notes[i].ns;
			until = (uint64_t)((double)total * (double)ns / (double)x->ns + 0.5);
		}
		if (until <= delivered)
			continue;
		STROBE_ASSERT(until <= total && x->count <= TICK_NOTES);
		find_moment(&m, x, i);
		m.more = until < total;
		t->done += until - delivered;
		t->expired(t, until - delivered, &m);
		delivered = until;
	}
	STROBE_ASSERT(!t->running || delivered == total);
}

static void expire(struct strobe_timer *t, struct expiry *x)
{
	uint64_t periods = 1;
	struct tick_snapshot m;

	if (t->passive && t->period_ns) {
		expire_passive(t, x);
		return;
	}
	find_moment(&m, x, x->count ? x->count - 1 : 0);
	if (t->period_ns) {
		periods = timer_periods_due(t, x->now[t->clock]);
		t->done += periods;
	} else {
		lane_remove(t);
	}
	if (t->passive || x->lane == &TIMER_THREAD.lanes[LANE_CALLS]) {
		t->expired(t, periods, &m);
		return;
	}
	TIMER_THREAD.depth++;		/* until it returns, only timers that may interrupt it are served */
	lane_publish(x->lane, x->now);
	TIMER_THREAD.depth--;
	call_guarded(t, periods, &m);
}

static bool may_run(const struct strobe_timer *t, const struct expiry *x)
{
	if (t->passive)
		return true;
	return !x->passive && (t->lane == LANE_CALLS || (!TIMER_THREAD.depth && !EG(exception)));
}

/* Returns the next timer that was due when we began, so that callbacks longer than a period cannot keep us here. */
static struct strobe_timer *next_due(struct expiry *x)
{
	struct strobe_timer *waiting = NULL;

	for (struct strobe_timer *t = x->lane->first; t; t = t->next) {
		if (timer_deadline(t) > x->now[t->clock])
			continue;
		if (may_run(t, x))
			return t;
		waiting = t;
	}
	/* The timer waits for an exception to be handled, or for a safe point. One that waits for a callback is
	 * noticed when that returns. The VM's flag must not be raised here: the VM checks it before handling the
	 * exception, and would never proceed. */
	x->lane->again |= waiting && !TIMER_THREAD.depth;
	return NULL;
}

static void run_due(struct expiry *x)
{
	struct strobe_timer *t;

	x->lane->again = false;
	lane_read_clocks(x->lane, x->now);
	while ((t = next_due(x)))
		expire(t, x);
	if (x->now[TIMER_CPU] < 0 && lane_has_clock(x->lane, TIMER_CPU))
		x->now[TIMER_CPU] = timer_now(TIMER_CPU);
	lane_publish(x->lane, x->now);
}

/* An interrupted callback shares the notes of the outer one. */
static void run(enum timer_lane lane, zend_execute_data *frame, bool passive)
{
	struct alarm *a = &TIMER_THREAD.alarms->of[lane];
	struct expiry x = { .lane = &TIMER_THREAD.lanes[lane], .frame = frame, .notes = a->taken, .passive = passive };
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

void expiry_run(enum timer_lane lane, zend_execute_data *frame)
{
	run(lane, frame, false);
}

static void run_at_call(zend_execute_data *frame, bool passive)
{
	zend_atomic_bool_store_ex(&STROBE_CALL_DUE, false);
	if (UNEXPECTED(TIMER_THREAD.forked))
		timers_resume();
	if (!TIMER_THREAD.alarms)
		return;
	if (!ticker_take(TIMER_THREAD.alarms->of[LANE_CALLS].slot) && !TIMER_THREAD.lanes[LANE_CALLS].again) {
		alarm_clear(&TIMER_THREAD.alarms->of[LANE_CALLS]);
		return;
	}
	TIMER_THREAD.in_call = true;
	run(LANE_CALLS, frame, passive);
	TIMER_THREAD.in_call = false;
}

void timers_at_call(zend_execute_data *frame)
{
	run_at_call(frame, false);
}

/* Whether a period ended at least `for_ns` ago. Reading CPU time is a system call, but it passes at most as fast as
 * wall time. */
static bool is_due(struct strobe_timer *t, int64_t for_ns)
{
	int64_t wall = timer_now(TIMER_WALL), left;

	if (wall < t->not_before_ns)
		return false;
	left = timer_deadline(t) - (t->clock == TIMER_WALL ? wall : timer_now(t->clock));
	if (left > 0)
		t->not_before_ns = wall + MIN(left, FOREVER_NS);
	return left <= -for_ns;
}

/* The frame of our own function is not part of the sampled stack, unless it was there at the tick. Code of the
 * program must not run in a function that changes labels or in a switch of fibers. */
static void catch_up(struct strobe_timer *t, int64_t overdue_ns)
{
	zend_execute_data *frame = EG(current_execute_data);
	struct ticker_slot *slot;
	bool late;

	if (!t->running || TIMER_THREAD.forked)
		return;
	slot = TIMER_THREAD.alarms->of[t->lane].slot;
	/* A note in progress belongs to the time before. If its thread has been preempted, due periods are reported
	 * without it. Even if none is due, the note must not be taken for the next period: a tick for another timer,
	 * or one taken just when the ticker fired again, may be noted at any time. */
	late = !ticker_finish(slot);
	if (!ticker_take(slot) && !late && !is_due(t, overdue_ns))
		return;
	if (frame && frame->func && !ZEND_USER_CODE(frame->func->type) && frame->prev_execute_data)
		frame = frame->prev_execute_data;
	if (t->lane == LANE_CALLS) {
		TIMER_THREAD.lanes[LANE_CALLS].again = true;
		run_at_call(frame, t->passive);
	} else {
		run(LANE_INTERRUPTS, frame, t->passive);
	}
}

void timer_catch_up(struct strobe_timer *t)
{
	catch_up(t, OVERDUE_NS);
}

void timer_deliver_rest(struct strobe_timer *t)
{
	catch_up(t, 0);
}
