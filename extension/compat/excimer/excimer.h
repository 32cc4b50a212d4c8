/* excimer.h: internal interfaces of the stand-in for Excimer.
 *
 * A profiler (excimer_profiler.c) takes samples into the log of an ExcimerLog object (excimer_log_class.c), whose data
 * and formats need no object (excimer_log.h, excimer_formats.h). A timer (excimer_timer.c) calls back. Both get their
 * events from excimer_event.h. excimer.c is the module around them.
 */
#ifndef STROBE_EXCIMER_H
#define STROBE_EXCIMER_H

#include "php.h"

#include "excimer_log.h"

#define EXCIMER_VERSION "1.2.5"		/* the version that this interface is compatible with */

/* The struct of ours that contains a zend_object, which must be its member `std`. */
#define EXCIMER_AROUND(type, object) ((type *)((char *)(object) - offsetof(type, std)))

/* Registers a class with `handlers`, in which only the differences from the defaults are set. */
zend_class_entry *excimer_class(const char *name, const zend_function_entry *methods,
	zend_object *(*create)(zend_class_entry *), zend_object_handlers *handlers, int offset,
	void (*free_object)(zend_object *));

/* Call these in MINIT. */
void excimer_register_profiler(void);
void excimer_register_log(void);
void excimer_register_timer(void);

/* Creates an ExcimerLog in `ret`. */
void excimer_log_create(zval *ret);

/* Returns the data of an ExcimerLog. */
struct excimer_log *excimer_log_of(zend_object *log);

/* Creates and starts a timer in `ret` that calls `callback` once after `seconds`. If it is not callable, warns and
 * sets `ret` to NULL. */
void excimer_timer_create(zval *ret, zval *callback, double seconds);

#endif
