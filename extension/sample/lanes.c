/* lanes.c: lists of timers. */

#ifdef HAVE_CONFIG_H
#include "config.h"
#endif

#include "lanes.h"

#include "delivery.h"
#include "strobe_assert.h"

#ifdef ZTS
TSRM_TLS struct timer_thread strobe_timer_thread;
#else
struct timer_thread strobe_timer_thread;
#endif

int64_t timer_deadline(const struct strobe_timer *t)
{
	int64_t periods;

	if (!t->period_ns)
		return t->base_ns;
	if (__builtin_mul_overflow((int64_t)(t->done + 1), t->period_ns, &periods) ||
	    __builtin_add_overflow(t->base_ns, periods, &periods))
		return TICKER_NEVER;
	return periods;
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

struct ticker_deadline lane_deadline(const struct lane *l, enum timer_clock clock)
{
	struct ticker_deadline d = { TICKER_NEVER, 0 };
	int64_t second = TICKER_NEVER;

	for (const struct strobe_timer *t = l->first; t; t = t->next) {
		int64_t at = timer_deadline(t);

		if (t->clock != clock || (TIMER_THREAD.depth && !t->passive && t->lane == LANE_INTERRUPTS))
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
	STROBE_ASSERT(TIMER_THREAD.alarms && l >= TIMER_THREAD.lanes && l < TIMER_THREAD.lanes + LANES);
	return TIMER_THREAD.alarms->of[l - TIMER_THREAD.lanes].slot;
}

void lane_notify_ticker(struct lane *l, enum timer_clock clock, struct ticker_deadline d)
{
	l->published[clock] = d;
	ticker_set(slot_of(l), clock, d);
}

void lane_publish(struct lane *l, const int64_t now[CLOCKS])
{
	int64_t wake_by = TICKER_NEVER;

	for (enum timer_clock clock = TIMER_WALL; clock <= TIMER_CPU; clock++) {
		struct ticker_deadline d = lane_deadline(l, clock);
		int64_t left;

		if (clock == TIMER_WALL && l->again)
			d.at_ns = now[clock];
		if (d.at_ns == TICKER_NEVER && l->published[clock].at_ns == TICKER_NEVER)
			continue;
		if (d.at_ns < now[clock] + MIN_DELAY_NS)
			d.at_ns = now[clock] + MIN_DELAY_NS;
		lane_notify_ticker(l, clock, d);
		if (d.at_ns == TICKER_NEVER)
			continue;
		left = d.at_ns - now[clock];
		wake_by = MIN(wake_by, now[TIMER_WALL] + left);
	}
	if (wake_by != TICKER_NEVER)
		ticker_wake_by(wake_by);
}

bool lane_has_clock(const struct lane *l, enum timer_clock clock)
{
	for (const struct strobe_timer *t = l->first; t; t = t->next)
		if (t->clock == clock)
			return true;
	return false;
}

/* Reading the CPU clock is a system call, so only clocks in use are read. */
void lane_read_clocks(const struct lane *l, int64_t now[CLOCKS])
{
	now[TIMER_WALL] = timer_now(TIMER_WALL);
	now[TIMER_CPU] = lane_has_clock(l, TIMER_CPU) ? timer_now(TIMER_CPU) : INT64_MIN / 2;
}

/* Makes the ticker note opcodes while a timer needs lines. */
static void update_line_noting(const struct lane *l)
{
	bool wanted = false;

	for (const struct strobe_timer *t = l->first; t; t = t->next)
		wanted |= t->lines;
	atomic_store_explicit(&TIMER_THREAD.alarms->of[l - TIMER_THREAD.lanes].notes.lines, wanted, memory_order_relaxed);
}

void lane_add(struct strobe_timer *t)
{
	struct lane *l = &TIMER_THREAD.lanes[t->lane];

	STROBE_ASSERT(t->lane < LANES && !t->running);
	if (!l->first && t->lane == LANE_CALLS)
		delivery_watch_calls(true);
	t->previous = NULL;
	t->next = l->first;
	if (t->next)
		t->next->previous = t;
	l->first = t;
	t->running = true;
	update_line_noting(l);
}

void lane_remove(struct strobe_timer *t)
{
	struct lane *l = &TIMER_THREAD.lanes[t->lane];

	STROBE_ASSERT(t->running && (t->previous ? t->previous->next : l->first) == t);
	STROBE_ASSERT(!t->next || t->next->previous == t);
	if (t->previous)
		t->previous->next = t->next;
	else
		l->first = t->next;
	if (t->next)
		t->next->previous = t->previous;
	t->next = t->previous = NULL;
	t->running = false;
	update_line_noting(l);
	/* Not while PHP iterates over the handlers of a function, since this would remove ours. */
	if (!l->first && t->lane == LANE_CALLS && !TIMER_THREAD.in_call)
		delivery_watch_calls(false);
}

void lane_stop(struct lane *l)
{
	while (l->first)
		lane_remove(l->first);
	l->again = false;
	if (!TIMER_THREAD.alarms)
		return;
	for (enum timer_clock clock = TIMER_WALL; clock <= TIMER_CPU; clock++)
		lane_notify_ticker(l, clock, (struct ticker_deadline){ TICKER_NEVER, 0 });
	alarm_clear(&TIMER_THREAD.alarms->of[l - TIMER_THREAD.lanes]);
}
