/* lanes.h: the running timers of a PHP thread, and their deadlines for the ticker.
 *
 * A lane is the list of timers whose callbacks are delivered in the same way. The ticker knows of each lane, for each clock, when the
 * next timer is due and how long after that the following one. Belongs to the files behind timers.h.
 */
#ifndef STROBE_LANES_H
#define STROBE_LANES_H

#include "alarms.h"

#define CLOCKS		TICKER_CLOCKS
#define FOREVER_NS	(INT64_MAX / 4)		/* longer times are as good as this one, and sums do not overflow */

/* A timer that is due all the time interrupts the program this often. */
#define MIN_DELAY_NS	20000

struct lane {
	struct strobe_timer *first;
	struct ticker_deadline published[CLOCKS];
	bool again;			/* a due callback could not be called: retry MIN_DELAY_NS later at the latest */
};

struct timer_thread {
	struct lane lanes[LANES];
	struct alarms *alarms;		/* NULL before its first timer */
	bool open;			/* a request runs */
	bool postponed;			/* the VM hooks chained after ours still have to be called */
	unsigned depth;			/* callbacks that run and are not passive */
	bool in_call;			/* timers_at_call runs */
	bool forked;			/* a forked child whose timers have not been restarted */
	int64_t cpu_at_fork;
};

#ifdef ZTS
extern TSRM_TLS struct timer_thread strobe_timer_thread;
#else
extern struct timer_thread strobe_timer_thread;
#endif
#define TIMER_THREAD strobe_timer_thread

/* When the next period of a timer is over. */
int64_t timer_deadline(const struct strobe_timer *t);

/* Puts a timer into its lane, or takes it out; the ticker is not notified. */
void lane_add(struct strobe_timer *t);
void lane_remove(struct strobe_timer *t);

/* The next two times at which the ticker has to raise the flag of the lane; publishes them. */
struct ticker_deadline lane_deadline(const struct lane *l, enum timer_clock clock);
void lane_notify_ticker(struct lane *l, enum timer_clock clock, struct ticker_deadline d);

/* The time of each clock that has timers. */
void lane_read_clocks(const struct lane *l, int64_t now[CLOCKS]);
bool lane_has_clock(const struct lane *l, enum timer_clock clock);

/* Publishes all deadlines of the lane to the ticker. `now` is what lane_read_clocks has read. */
void lane_publish(struct lane *l, const int64_t now[CLOCKS]);

/* Takes all timers out, notifies the ticker, and discards its ticks. */
void lane_stop(struct lane *l);

#endif
