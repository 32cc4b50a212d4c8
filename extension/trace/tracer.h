/* tracer.h: records the exact call tree between a start and a stop.
 *
 * Calls are observed through PHP's call observer, which is registered at startup only if strobe.instrument says so:
 * without it there is no tracing and no cost. While no session is open no function has handlers, but the observer
 * remembers the functions that it has been asked about: starting sets their handlers, stopping removes them.
 *
 * Any number of sessions may be open at once, started and stopped in any order (an application that calls
 * xhprof_enable() in a request that is traced by strobe.trigger_secret): there is one tree, in which each session has
 * its own nodes, so that a second session adds no cost per call. All measure what any of them requests.
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
};					/* without any of them, calls are only counted */

#define TRACE_METRICS 63		/* all of them */

#define TRACE_CHART 64u			/* in addition to metrics: also record the order of calls */

/* Distinguishes calls of some internal functions by their arguments ("PDO::query" by its SQL): their name gets a
 * suffix, and calls with different suffixes are different functions in the tree. */
struct trace_annotation {
	/* Whether calls of the function are distinguished. Called once per function. */
	bool (*applies)(const zend_function *f);

	/* Returns the suffix for a call that begins, whose arguments are set; the tracer releases it. NULL: none. It
	 * may run PHP code, which is not traced, and must not leave an exception behind. */
	zend_string *(*suffix)(zend_execute_data *frame);
};

struct trace_options {
	unsigned metrics;		/* TRACE_ bits */
	bool no_internals;		/* only functions written in PHP */
	bool files;			/* nodes for the file scope of scripts (CALL_FILE) and for eval (CALL_EVAL) */
	bool loads;			/* nodes for compilation (CALL_LOAD, CALL_LOAD_EVAL) */
	bool anew_in_child;		/* in a forked child the session restarts; the parent keeps what was before */
	bool own_fiber;			/* only while the fiber in which it starts is running, or one resumed by it */
	const struct trace_annotation *annotation;	/* NULL: none. All use that of the session opened last */
	struct name_filter *filter;	/* NULL: all are shown. Freed by the session, even if it cannot be opened. A
					 * hidden function is transparent: its callees belong to its caller, and so
					 * does its own time */

	/* Called when the session has restarted in a forked child, inside the child's first traced call, so it must
	 * use the C library's memory only. NULL: not needed. */
	void (*began_anew)(void *owner);

	/* NULL: calls beyond strobe.trace_max_nodes are folded. Otherwise it is called with what the session has
	 * recorded so far whenever the tree is full, and the tree returned by tracer_stop has the rest: values of all
	 * trees add up, and only the last has calls of the root. It is called inside a traced call, so it must use
	 * the C library's memory only. Calls are still folded while another session without this function is open,
	 * and if calls nest so deep that they fill the tree. */
	void (*spill)(void *owner, const struct call_tree *t);
	void *owner;
};

struct trace_session;

/* Whether the observer is registered. If not, report that with TRACER_UNAVAILABLE. */
bool tracer_available(void);
#define TRACER_UNAVAILABLE "needs the call observer: set strobe.instrument=1 in php.ini (it is read when PHP starts)"

/* Opens a session. NULL if the observer is not registered or there is no memory. The function that is running at the
 * start is not part of it; its calls from now on are, directly below the root. */
struct trace_session *tracer_start(const struct trace_options *options);

/* Returns the tree recorded so far; the session continues, and the time taken by this call is not part of it. The
 * caller frees it. NULL without memory. */
struct call_tree *tracer_snapshot(struct trace_session *s);

/* Closes the session and returns its tree: calls that are still running count until now. The caller frees it. NULL if
 * memory is short; the session is closed nevertheless. */
struct call_tree *tracer_stop(struct trace_session *s);

/* Does the same with exclusive values (call_tree.h), for callers that only send the tree. */
struct call_tree *tracer_stop_own(struct trace_session *s);

/* Logs the number of folded calls, if any, to PHP's error log, once per request. For APIs that cannot report it
 * otherwise. */
void tracer_warn_of_folded(uint64_t calls);

/* Closes the session without a result. NULL is fine. tracer_request_end drops sessions left open at the end of the
 * request, so owners must close or drop theirs before that. */
void tracer_drop(struct trace_session *s);

void tracer_startup(int type);		/* in MINIT, with its type: registers the observer if wanted */
void tracer_shutdown(void);		/* in MSHUTDOWN */
void tracer_thread_end(void);		/* in GSHUTDOWN */
void tracer_request_start(void);
void tracer_request_end(void);

#endif
