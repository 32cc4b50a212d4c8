/* excimer_event.c: times and callbacks of excimer_event.h. */

#ifdef HAVE_CONFIG_H
#include "config.h"
#endif

#include "excimer_event.h"

#include "delivery.h"
#include "php_strobe.h"

#include <errno.h>
#include <string.h>

#define LONGEST_SECONDS (100 * 366 * 86400.0)	/* far below the end of int64_t */

int64_t excimer_ns(double seconds)
{
	int64_t whole;

	if (!(seconds > 0))
		return 0;
	if (seconds > LONGEST_SECONDS)
		seconds = LONGEST_SECONDS;
	whole = (int64_t)seconds;
	return whole * 1000000000 + (int64_t)((seconds - (double)whole) * 1e9);
}

void excimer_event_set_type(struct excimer_event *e, zend_long type)
{
	if (type != EXCIMER_REAL && type != EXCIMER_CPU) {
		php_error_docref(NULL, E_WARNING, "Invalid event type");
		return;
	}
	e->type = type;
}

void excimer_warn_of_delivery(const char *what)
{
	const char *reason = delivery_reason();

	if (STROBE_G(warned_of_delivery))
		return;
	STROBE_G(warned_of_delivery) = true;
	php_error_docref(NULL, E_WARNING, "%s: %s", what, reason ? reason : DELIVERY_UNSAFE);
}

void excimer_event_start(struct excimer_event *e, const char *what)
{
	int64_t first = e->first_ns ? e->first_ns : e->period_ns;
	int r;

	timer_stop(&e->timer);
	if (!first) {
		php_error_docref(NULL, E_WARNING, "Unable to start timer with a value of zero duration and period");
		return;
	}
	r = timer_start(&e->timer, e->type == EXCIMER_CPU ? TIMER_CPU : TIMER_WALL, first, e->period_ns);
	if (r == ENOTSUP)
		excimer_warn_of_delivery(what);
	else if (r && r != ECANCELED)	/* after the end of the request, where it does not matter */
		php_error_docref(NULL, E_WARNING, "Error in pthread_create(): %s", strerror(r));
}

bool excimer_is_callable(zval *callback, const char *what)
{
	char *reason = NULL;
	bool callable = zend_is_callable_ex(callback, NULL, 0, NULL, NULL, &reason);

	if (!callable)
		php_error_docref(NULL, E_WARNING, "%s is not callable: %s", what, reason ? reason : "");
	if (reason)
		efree(reason);
	return callable;
}

bool excimer_call(const char *owner, const zval *callback, zval *argument)
{
	zend_fcall_info call;
	zend_fcall_info_cache cache;
	zval kept, ret;
	char *reason = NULL;
	bool callable;

	/* The callback may replace itself, or destroy the object that holds it. */
	ZVAL_COPY(&kept, callback);
	callable = zend_fcall_info_init(&kept, 0, &call, &cache, NULL, &reason) == SUCCESS;
	if (callable) {
		ZVAL_UNDEF(&ret);
		call.retval = &ret;
		call.params = argument;
		call.param_count = 1;
		zend_call_function(&call, &cache);
		zval_ptr_dtor(&ret);
	} else {
		zend_error(E_WARNING, "%s callback is not callable (during event): %s", owner, reason ? reason : "");
	}
	if (reason)
		efree(reason);
	zval_ptr_dtor(&kept);
	return callable;
}
