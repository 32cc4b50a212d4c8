/* timer_forks.c: restarts timers in a forked child. */

#ifdef HAVE_CONFIG_H
#include "config.h"
#endif

#include "timer_forks.h"

#include "guarded_read.h"
#include "interrupts.h"
#include "lanes.h"

#include <pthread.h>

static void (*report_child)(void);

/* The CPU time of the child's thread starts at 0. */
void timers_resume(void)
{
	int64_t now[CLOCKS];

	TIMER_THREAD.forked = false;
	for (enum timer_lane lane = 0; lane < LANES; lane++) {
		struct lane *l = &TIMER_THREAD.lanes[lane];

		alarm_clear(&TIMER_THREAD.alarms->of[lane]);
		lane_read_clocks(l, now);
		for (struct strobe_timer *t = l->first; t; t = t->next)
			if (t->clock == TIMER_CPU)
				t->base_ns += now[TIMER_CPU] - TIMER_THREAD.cpu_at_fork;
		if (!l->first)
			continue;
		if (alarms_start_ticker())
			lane_stop(l);
		else
			lane_publish(l, now);
	}
	if (report_child)
		report_child();
}

static void before_fork(void)
{
	ticker_settle();
	if (TIMER_THREAD.forked)
		return;
	for (enum timer_lane lane = 0; lane < LANES; lane++)
		if (lane_has_clock(&TIMER_THREAD.lanes[lane], TIMER_CPU))
			TIMER_THREAD.cpu_at_fork = timer_now(TIMER_CPU);
}

/* Runs in the child inside fork(), so it only stores. The flag makes timers_resume run at the next safe point or
 * call. */
static void after_fork(void)
{
	struct ticker_slot *own[LANES] = { NULL };

	guarded_read_in_child();
	for (enum timer_lane lane = 0; TIMER_THREAD.alarms && lane < LANES; lane++)
		own[lane] = TIMER_THREAD.alarms->of[lane].slot;
	ticker_forget(own, LANES);
	TIMER_THREAD.forked = TIMER_THREAD.lanes[LANE_INTERRUPTS].first || TIMER_THREAD.lanes[LANE_CALLS].first;
	if (TIMER_THREAD.lanes[LANE_INTERRUPTS].first)
		interrupt_raise();
	if (TIMER_THREAD.lanes[LANE_CALLS].first)
		zend_atomic_bool_store_ex(&STROBE_CALL_DUE, true);
}

void timer_forks_startup(void (*in_child)(void))
{
	report_child = in_child;
	pthread_atfork(before_fork, NULL, after_fork);
}
