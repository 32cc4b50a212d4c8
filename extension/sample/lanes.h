/* lanes.h: the running timers of a PHP thread, and their deadlines for the ticker.
 *
 * A lane is the list of timers whose callbacks are delivered in the same way. For each lane and clock, the ticker
 * knows when the next timer is due, and how long after that the following one. Private to the implementation of
 * timers.h.
 */
#ifndef STROBE_LANES_H
#define STROBE_LANES_H

#include "alarms.h"

#define CLOCKS		TICKER_CLOCKS
#define FOREVER_NS	(INT64_MAX / 4)		/* longer times have the same effect, and sums do not overflow */

/* A timer that is always due interrupts the program at this interval. */
#define MIN_DELAY_NS	20000

struct lane {
	struct strobe_timer *first;
	struct ticker_deadline published[CLOCKS];
	bool again;			/* a due callback could not be called: retry within MIN_DELAY_NS */
};

struct timer_thread {
	struct lane lanes[LANES];
	struct alarms *alarms;		/* NULL before its first timer */
	bool open;			/* a request runs */
	bool postponed;			/* the VM hooks chained after ours still have to be called */
	unsigned depth;			/* number of running callbacks that are not passive */
	bool in_call;			/* timers_at_call is running */
	bool forked;			/* a forked child whose timers have not been restarted */
	int64_t cpu_at_fork;
};

#ifdef ZTS
extern TSRM_TLS struct timer_thread strobe_timer_thread;
#else
extern struct timer_thread strobe_timer_thread;
#endif
#define TIMER_THREAD strobe_timer_thread

/* Returns when the timer's next period ends. */
int64_t timer_deadline(const struct strobe_timer *t);

/* Adds a timer to its lane, or removes it; the ticker is not notified. */
void lane_add(struct strobe_timer *t);
void lane_remove(struct strobe_timer *t);

/* Returns the next two times at which the ticker has to raise the flag of the lane. */
struct ticker_deadline lane_deadline(const struct lane *l, enum timer_clock clock);
void lane_notify_ticker(struct lane *l, enum timer_clock clock, struct ticker_deadline d);

/* Reads each clock that has timers. */
void lane_read_clocks(const struct lane *l, int64_t now[CLOCKS]);
bool lane_has_clock(const struct lane *l, enum timer_clock clock);

/* Publishes all deadlines of the lane to the ticker. `now` comes from lane_read_clocks. */
void lane_publish(struct lane *l, const int64_t now[CLOCKS]);

/* Removes all timers, notifies the ticker, and discards its ticks. */
void lane_stop(struct lane *l);

#endif
