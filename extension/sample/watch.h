/* watch.h: observes a PHP thread that reaches no safe point.
 *
 * During one long call (a query, sleep(), a sort) none of our code runs in the thread, and if the process is killed
 * the call is never reported. Under `strobe run` the ticker's thread lets watchers inspect each PHP thread several
 * times a second, while it may be running. Nothing is locked, so each watcher has to ensure three things:
 *
 *	No fault. It loads only what lives as long as it watches, and copies all else by guarded_read.h: memory that is gone is an
 *	error there.
 *
 *	No mixture of two states. It knows a state of the PHP thread that never recurs, such as a counter, and uses its copies
 *	only if that was the same before and after copying. Between the two it calls watch_settles: all that the PHP
 *	thread had begun by then is done, so that the first half of a change is never seen twice because the thread had lost its
 *	processor in the middle of it. Each change ends with the state, or leaves a counter odd until it is over.
 *
 *	No order that only one processor sees. All threads see stores that the PHP thread made before it slept, or a
 *	millisecond ago.
 */
#ifndef STROBE_WATCH_H
#define STROBE_WATCH_H

#include "php.h"

#include <stdatomic.h>

struct ticker_slot;

enum watcher { WATCH_SAMPLES, WATCH_TRACES, WATCHERS };

#define WATCH_SEEN 2048

struct watch_context {
	zend_execute_data *const *frames;	/* the PHP thread's pointer to its innermost frame */
	int64_t cpu_ns;				/* its CPU time */
	const struct ticker_slot *slot;
	char *seen;				/* WATCH_SEEN bytes for the watcher's own use, initially zero */
};

/* Call it between copying and checking the state again; see ticker_settles. If it returns false, the copies are
 * useless. */
bool watch_settles(const struct watch_context *l);

/* Runs in the ticker's thread, which has file descriptors of its own (ticker.h). */
typedef void watch_function(void *owner, const struct watch_context *context);

/* Begins to watch the calling PHP thread, which must have a running timer, every strobe.flush_waiting seconds; does
 * nothing if that is 0, or if memory cannot be read. */
void watch_begin(enum watcher which, watch_function *watch, void *owner);

/* Stops watching: no further inspection begins, and one in progress ends soon. */
void watch_end(enum watcher which);

/* Embedded in struct alarms. */
struct watch {
	_Atomic(watch_function *) watch;	/* NULL: no watcher */
	_Atomic(void *) owner;
	char seen[WATCH_SEEN];		/* owned by the ticker's thread */
};

#endif
