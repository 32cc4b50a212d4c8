/* timers.c: starts and stops timers. */

#ifdef HAVE_CONFIG_H
#include "config.h"
#endif

#include "timers.h"

#include "delivery.h"
#include "fiber_ends.h"
#include "guarded_read.h"
#include "interrupts.h"
#include "lanes.h"
#include "php_strobe.h"
#include "strobe_assert.h"
#include "timer_forks.h"

#include <errno.h>

int64_t timer_now(enum timer_clock clock)
{
	return ticker_now(clock);
}

/* Returns the lane in which the timer's callback can be called in this request; LANES if there is none. */
static enum timer_lane lane_for(const struct strobe_timer *t)
{
	bool runs_no_php = t->passive || t->allocates;

	if (t->at_calls)
		return delivery_has_calls() ? LANE_CALLS : LANES;
	switch (delivery_way()) {
	case DELIVERY_INTERRUPTS:
		return LANE_INTERRUPTS;
	case DELIVERY_CALLS:
		return runs_no_php ? LANE_CALLS : LANES;
	default:
		return LANES;
	}
}

int timer_start(struct strobe_timer *t, enum timer_clock clock, int64_t first_ns, int64_t period_ns)
{
	enum timer_lane lane = lane_for(t);
	struct lane *l = &TIMER_THREAD.lanes[lane % LANES];
	int64_t now, wall;
	int r;

	if (!TIMER_THREAD.open)
		return ECANCELED;
	if (lane == LANES)
		return ENOTSUP;
	if (UNEXPECTED(TIMER_THREAD.forked))
		timers_resume();
	if (UNEXPECTED(!TIMER_THREAD.alarms) && !(TIMER_THREAD.alarms = STROBE_G(alarms) = alarms_new()))
		return ENOMEM;
	if ((r = alarms_start_ticker()))
		return r;

	timer_stop(t);
	first_ns = MIN(MAX(first_ns, MIN_DELAY_NS), FOREVER_NS);
	t->lane = lane;
	t->clock = clock;
	t->period_ns = MIN(MAX(period_ns, 0), FOREVER_NS);
	now = timer_now(clock);
	t->base_ns = now + first_ns - t->period_ns;
	t->done = 0;
	lane_add(t);
	STROBE_ASSERT(t->running && l->first == t);

	wall = clock == TIMER_WALL ? now : timer_now(TIMER_WALL);
	if (!t->next)		/* the first timer */
		atomic_store(&TIMER_THREAD.alarms->of[lane].notes.since_ns, wall);
	lane_notify_ticker(l, clock, lane_deadline(l, clock));
	ticker_wake_by(wall + first_ns);
	t->not_before_ns = wall + first_ns;
	return 0;
}

void timer_stop(struct strobe_timer *t)
{
	struct lane *l = &TIMER_THREAD.lanes[t->lane];

	if (!t->running)
		return;
	lane_remove(t);
	if (!TIMER_THREAD.forked)
		lane_notify_ticker(l, t->clock, lane_deadline(l, t->clock));
}

int64_t timer_left(const struct strobe_timer *t)
{
	int64_t left;

	if (!t->running)
		return 0;
	left = timer_deadline(t) - timer_now(t->clock);
	return left > 0 ? left : 0;
}

/* Passive timers continue at calls. Once the ticker has no alarm of the lane, no flag is raised; an earlier one is
 * taken by the function call that brought us here, before any compiled code runs. */
void timers_interrupts_unsafe(void)
{
	struct lane *l = &TIMER_THREAD.lanes[LANE_INTERRUPTS];
	struct strobe_timer *moved = NULL, *t;

	while ((t = l->first)) {
		lane_remove(t);
		t->next = moved;
		moved = t;
	}
	lane_stop(l);
	if (TIMER_THREAD.alarms)
		ticker_quiesce(TIMER_THREAD.alarms->of[LANE_INTERRUPTS].slot);
	while ((t = moved)) {
		moved = t->next;
		t->next = NULL;
		if (lane_for(t) == LANE_CALLS && t->period_ns)
			timer_start(t, t->clock, t->period_ns, t->period_ns);
	}
}

/* --- life */

void timers_startup(void (*in_child)(void))
{
	alarms_startup();
	guarded_read_startup();
	timer_forks_startup(in_child);
	interrupts_startup();
	fiber_ends_startup();
}

void timers_shutdown(void)
{
	alarms_shutdown();
	interrupts_shutdown();
	fiber_ends_shutdown();
}

static void stop_all(void)
{
	for (enum timer_lane lane = 0; lane < LANES; lane++)
		lane_stop(&TIMER_THREAD.lanes[lane]);
	TIMER_THREAD.postponed = false;
}

void timers_request_start(void)
{
	TIMER_THREAD.open = true;
	TIMER_THREAD.in_call = false;
	TIMER_THREAD.depth = 0;
	if (TIMER_THREAD.alarms)
		found_functions_clear(&TIMER_THREAD.alarms->found);
}

/* The ticker loads from the thread's heap, which PHP frees before we learn that the thread has ended. */
static void wait_for_notes(void)
{
#ifdef ZTS
	for (enum timer_lane lane = 0; TIMER_THREAD.alarms && lane < LANES; lane++)
		ticker_quiesce(TIMER_THREAD.alarms->of[lane].slot);
#endif
}

void timers_request_end(void)
{
	stop_all();
	for (enum watcher which = 0; which < WATCHERS; which++)
		watch_end(which);
	wait_for_notes();
	fiber_ends_forget();
	TIMER_THREAD.open = false;
	TIMER_THREAD.forked = false;
}

void timers_thread_end(struct alarms *a)
{
	if (!a)
		return;
	if (a == TIMER_THREAD.alarms) {
		if (alarms_have_ticker())
			stop_all();
		TIMER_THREAD.alarms = NULL;
		alarms_detach();
	}
	alarms_free(a);
}
