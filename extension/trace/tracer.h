/* tracer.h: the exact call tree of what runs between a start and a stop.
 *
 * It observes calls through PHP's call observer, which is registered at start-up only when strobe.instrument says
 * so: without it there is no tracing and no cost. While no session is open no function has a handler, except that
 * the observer remembers which functions it has been asked about; starting gives these their handlers, stopping takes
 * them away again.
 *
 * Any number of sessions may be open at once, started and stopped in any order (an application that calls
 * xhprof_enable() in a request that is traced by strobe.trigger_secret): there is one tree, in which each session has
 * its own nodes, so that a second session costs nothing more per call. All measure what any of them asks for.
 */
#ifndef STROBE_TRACER_H
#define STROBE_TRACER_H

#include "call_tree.h"
#include "name_filter.h"

enum trace_metric {
	TRACE_WALL = 1,
	TRACE_CPU = 2,
	TRACE_MEMORY = 4,
	TRACE_PEAK = 8,
	TRACE_ALLOCATIONS = 16,		/* TREE_ALLOCATIONS, TREE_FREES, TREE_ALLOCATED_BYTES */
	TRACE_SAMPLED_WALL = 32,	/* wall time by sampling instead of two clock reads a call; exact beside any other metric */
};					/* none of them: calls are counted, nothing else */

#define TRACE_METRICS 63		/* all of them */

#define TRACE_CHART 64u			/* beside metrics: the tree has the calls in their order, too */

/* Tells calls of some internal functions apart by what they are called with ("PDO::query" by its SQL): their name gets a
 * suffix, and calls with different ones are different functions of the tree. */
struct trace_annotation {
	/* Whether the function is one of these. Asked once per function. */
	bool (*applies)(const zend_function *f);

	/* The suffix of a call that begins, its arguments are in place. The tracer releases it. NULL: none. It may run PHP
	 * code, which is not traced, and must leave no exception behind. */
	zend_string *(*suffix)(zend_execute_data *frame);
};

struct trace_options {
	unsigned metrics;		/* TRACE_ bits */
	bool no_internals;		/* only functions written in PHP */
	bool files;			/* nodes for the file scope of scripts (CALL_FILE) and for eval (CALL_EVAL) */
	bool loads;			/* nodes for compilation (CALL_LOAD, CALL_LOAD_EVAL) */
	bool anew_in_child;		/* in a forked child the session begins anew: its parent keeps what was before */
	bool own_fiber;			/* only while the fiber runs in which it starts, or one that this one has resumed */
	const struct trace_annotation *annotation;	/* NULL: none. All sessions use that of the one opened last */
	struct name_filter *filter;	/* NULL: all are shown. The session frees it, also one that cannot be opened. A hidden
					 * function is transparent: its callees hang below its caller, its own time is its caller's */

	/* Called when the session has begun anew in a forked child, inside of the child's first call that is traced: it may use
	 * the C library's memory only. NULL: no watcher. */
	void (*began_anew)(void *owner);

	/* NULL: calls beyond strobe.trace_max_nodes are folded. Otherwise it is called with what the session has seen so far
	 * whenever the tree is full, and the tree that tracer_stop returns has the rest: values of all of them add up, calls of
	 * the root only in the last. Runs inside of a call that is traced: it may use the C library's memory only. Calls are
	 * folded all the same while another session without it is open, and where calls run so deep that they fill the tree. */
	void (*spill)(void *owner, const struct call_tree *t);
	void *owner;
};

struct trace_session;

/* Whether the observer is registered. If not, say so with TRACER_UNAVAILABLE. */
bool tracer_available(void);
#define TRACER_UNAVAILABLE "needs the call observer: set strobe.instrument=1 in php.ini (it is read when PHP starts)"

/* Opens a session. NULL if the observer is not registered or there is no memory. The function that is running when it
 * starts is not part of it, what it calls from now on is, right below the root. */
struct trace_session *tracer_start(const struct trace_options *options);

/* The tree that the session has seen up to now; the session continues, and the time that this takes is not part of it. The
 * caller frees it.
 * NULL without memory. */
struct call_tree *tracer_snapshot(struct trace_session *s);

/* Closes the session and returns what it saw: calls that are still running count until now. The caller frees the tree.
 * NULL, with the session gone all the same, if memory is short. */
struct call_tree *tracer_stop(struct trace_session *s);

/* The same with values that are each node's own (call_tree.h): for callers that only send the tree. */
struct call_tree *tracer_stop_own(struct trace_session *s);

/* Logs to PHP's error log, once per request, how many calls a tree had no room for, if there are any. For APIs that cannot
 * report it otherwise. */
void tracer_warn_of_folded(uint64_t calls);

/* Closes the session without a result. NULL is fine. Sessions left open at the end of the request are dropped by
 * tracer_request_end; its holder must close or drop it in its own request end, before that. */
void tracer_drop(struct trace_session *s);

void tracer_startup(int type);		/* in MINIT, with its type: registers the observer if wanted */
void tracer_shutdown(void);		/* in MSHUTDOWN */
void tracer_thread_end(void);		/* in GSHUTDOWN */
void tracer_request_start(void);
void tracer_request_end(void);

#endif
