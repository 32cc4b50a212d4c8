/* excimer_event.h: what Excimer's timers and profilers have in common: when an event comes, and how PHP code is told.
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

/* Seconds as nanoseconds, those of a fraction cut off. Nothing below zero, nor beyond a hundred years. */
int64_t excimer_ns(double seconds);

/* Warns and changes nothing if it is no EXCIMER_ constant. */
void excimer_event_set_type(struct excimer_event *e, zend_long type);

/* Starts, again if it runs. Warns if there is no time to wait for, or no thread could be made; and once a request if the
 * callback, called `what`, cannot be called because interrupts are not safe (delivery.h). */
void excimer_event_start(struct excimer_event *e, const char *what);

/* Warns of what cannot be done because interrupts are not safe, and says why; only once a request, since programs start timers
 * in loops. */
void excimer_warn_of_delivery(const char *what);

/* Whether `callback` can be called from here; else warns and speaks of it as `what`. */
bool excimer_is_callable(zval *callback, const char *what);

/* Calls `callback`, and may destroy what it belongs to. False, after a warning that names `owner`, if it cannot be
 * called from the code that was interrupted. What it throws is thrown into that code. */
bool excimer_call(const char *owner, const zval *callback, zval *argument);

#endif
