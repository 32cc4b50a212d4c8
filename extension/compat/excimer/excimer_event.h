/* excimer_event.h: common to Excimer's timers and profilers: the times of events, and the calls of PHP code.
 *
 * Warnings name the method that PHP is running, as the original's do.
 */
#ifndef STROBE_EXCIMER_EVENT_H
#define STROBE_EXCIMER_EVENT_H

#include "php.h"

#include "timers.h"

#define EXCIMER_REAL 0
#define EXCIMER_CPU 1

struct excimer_event {
	struct strobe_timer timer;
	zend_long type;			/* EXCIMER_; heeded by the next start */
	int64_t first_ns;		/* until the first event; 0: a period */
	int64_t period_ns;		/* 0: only one event */
};

/* Seconds as nanoseconds, truncated, from zero to a hundred years. */
int64_t excimer_ns(double seconds);

/* Warns and changes nothing if it is not an EXCIMER_ constant. */
void excimer_event_set_type(struct excimer_event *e, zend_long type);

/* Starts or restarts the event. Warns if no time is set, or no thread could be created; and once a request if the
 * callback, called `what`, cannot be called because interrupts are not safe (delivery.h). */
void excimer_event_start(struct excimer_event *e, const char *what);

/* Warns that something is impossible because interrupts are not safe, with the reason; only once per request, since
 * programs start timers in loops. */
void excimer_warn_of_delivery(const char *what);

/* Whether `callback` can be called from here; else warns, naming it `what`. */
bool excimer_is_callable(zval *callback, const char *what);

/* Calls `callback`, and may destroy what it belongs to. False, after a warning that names `owner`, if it cannot be
 * called from the code that was interrupted. Its exceptions are thrown into that code. */
bool excimer_call(const char *owner, const zval *callback, zval *argument);

#endif
