/* excimer_event.h: shared by Excimer's timers and profilers: times of events, and calls of PHP code.
 *
 * Warnings name the running method, like the original's.
 */
#ifndef STROBE_EXCIMER_EVENT_H
#define STROBE_EXCIMER_EVENT_H

#include "php.h"

#include "timers.h"

#define EXCIMER_REAL 0
#define EXCIMER_CPU 1

struct excimer_event {
	struct strobe_timer timer;
	zend_long type;			/* EXCIMER_ constant; takes effect at the next start */
	int64_t first_ns;		/* until the first event; 0: one period */
	int64_t period_ns;		/* 0: only one event */
};

/* Converts seconds to nanoseconds, truncated and limited to zero to a hundred years. */
int64_t excimer_ns(double seconds);

/* Warns and changes nothing if it is not an EXCIMER_ constant. */
void excimer_event_set_type(struct excimer_event *e, zend_long type);

/* Starts or restarts the event. Warns if no time is set, or if no thread could be created; and once per request if
 * the callback, described as `what`, cannot be called because interrupts are not safe (delivery.h). */
void excimer_event_start(struct excimer_event *e, const char *what);

/* Warns that something is impossible because interrupts are not safe, with the reason; only once per request, since
 * programs start timers in loops. */
void excimer_warn_of_delivery(const char *what);

/* Whether `callback` can be called from here; if not, warns and describes it as `what`. */
bool excimer_is_callable(zval *callback, const char *what);

/* Calls `callback`, which may destroy its owner. If it cannot be called from the interrupted code, warns with the
 * name `owner` and returns false. Its exceptions are thrown into that code. */
bool excimer_call(const char *owner, const zval *callback, zval *argument);

#endif
