/* capture.h: shared by the files of trace/: the state of the current trace.
 *
 * One per PHP thread. It is active while at least one session is open. Running calls are entries of one stack; that of a
 * fiber is its upper part, taken off when the fiber is suspended and put back on top of its resumer when it
 * resumes, so that each moment belongs to exactly one path from the root. Each open session has one entry among them, its
 * marker: nodes below the marker are what the session sees.
 */
#ifndef STROBE_CAPTURE_H
#define STROBE_CAPTURE_H

#include "call_chart.h"
#include "cpu_clock.h"
#include "nodes.h"
#include "timers.h"
#include "tracer.h"

#include <stdatomic.h>

/* A call that is running. */
struct entry {
	struct node *node;
	zend_execute_data *frame;	/* NULL: a marker, a compilation, or the bottom of the stack */
	uint64_t wall, cpu;		/* ticks when it began, or when it was last brought up to date */
	int64_t memory, peak;
	struct chart_call *call;	/* while a chart is recorded */
};

struct trace_session {
	struct trace_options options;
	uintptr_t key;			/* key in its markers: odd, so never that of a function */
	struct function *function;	/* function in its markers */
	struct call_tree *spilled;	/* for a moment */
	size_t at;			/* index of its marker in the stack; 0 while there is none */
	uint64_t start_ns;		/* since 1970 */
	uint64_t start_ticks;		/* the same moment */
	const void *context;		/* the fiber context that it belongs to; NULL: to all */
	struct trace_session *next;	/* the one opened after it */
};

/* A fiber, or the main program, that is running or waits for one that it has resumed. */
struct strand {
	zend_fiber_context *context;
	size_t bottom;			/* its first entry */
};

struct suspended {
	zend_fiber_context *context;
	struct saved_call *calls;
	size_t count;
	struct suspended *next;
};

/* A call apart from its node, which may not outlive it. */
struct saved_call {
	uintptr_t key;
	struct function *function;	/* NULL: there was no memory for one */
	zend_execute_data *frame;	/* NULL: the marker of a session that belongs to this fiber */
};

/* The use of memory, at the place where PHP's allocator keeps it. */
struct heap_use {
	size_t now, peak;
};

/* Handlers are made for these sets of metrics; CAPTURE_ANY looks at capture.metrics at each call; those with a chart record it
 * too; those that are polled also ask whether a timer is due. */
enum capture_mode { CAPTURE_COUNTS, CAPTURE_WALL, CAPTURE_CPU, CAPTURE_MEMORY, CAPTURE_FULL, CAPTURE_ANY,
	CAPTURE_WALL_CHART, CAPTURE_FULL_CHART, CAPTURE_ANY_CHART,
	CAPTURE_COUNTS_POLLED, CAPTURE_ANY_POLLED, CAPTURE_ANY_CHART_POLLED };

struct capture {
	/* Touched by each call. */
	struct entry *top, *limit;	/* limit: one behind the last; while idle, the entry above the only one */
	struct node **guess;		/* place of the next child of top->node: its `first`, or `after` of the one that ended */
	const struct heap_use *heap;	/* NULL: not found, the functions are called */
	struct cpu_clock cpu;
	unsigned metrics;		/* the measurements at each call: all that any session requested, and their
					 * by-products */

	bool active;
	bool internals, files, loads;	/* all that any session requested */
	enum capture_mode mode;
	struct entry idle[1];		/* the stack while nothing is traced: each call finds it full, each end finds no frame */
	struct entry *stack;
	struct allocation_counts *stack_counts;	/* beside the stack, with TRACE_ALLOCATIONS */
	size_t capacity;
	uint64_t overflow;		/* calls that found no memory for an entry */
	struct allocation_counts counts;
	bool counting;
	struct entry *forked;		/* this is a child that has not noticed it: the call that ran, or NULL. The stack looks full … */
	zend_execute_data *forked_in;	/* … and the call has no frame, so that its end is not found: it has this one */
	bool warned;			/* the error log has a line in this request that calls were folded */
	bool muted;			/* calls are not seen for a moment: the stack looks full */
	const struct trace_annotation *annotation;
	_Atomic uint32_t sequence;		/* odd during a change that takes more than one step (trace_copy.h) */

	struct nodes nodes;
	struct chart chart;
	struct trace_session *sessions;	/* in the order of opening */
	double ns_per_tick;
	struct strobe_timer timer;	/* timer for sampled time */

	struct strand *strands;		/* the last one is running */
	size_t strand_count, strand_capacity;
	struct suspended *suspended;

	bool polling;			/* timers are waiting for calls (delivery.h) */
	const struct capture_handlers *installed;	/* handlers of functions; NULL: none */
	bool installed_internals, installed_files;

	uintptr_t *seen;		/* run-time caches of the functions that the observer knows in this request, packed */
	uint32_t seen_count, seen_capacity;
};

#ifdef ZTS
extern TSRM_TLS struct capture *strobe_capture TSRM_TLS_MODEL_ATTR;
#define CAPTURE strobe_capture
#else
extern struct capture strobe_capture;
#define CAPTURE (&strobe_capture)
#endif

/* To be called around changes of more than the innermost call and its nodes. Returns whether it was not changing already, and
 * capture_changed is to be called. */
static inline bool capture_changing(struct capture *c)
{
	uint32_t sequence = atomic_load_explicit(&c->sequence, memory_order_relaxed);

	if (sequence & 1)
		return false;
	atomic_store_explicit(&c->sequence, sequence + 1, memory_order_relaxed);
	atomic_thread_fence(memory_order_release);
	return true;
}

static inline void capture_changed(struct capture *c, bool was_first)
{
	STROBE_ASSERT(!was_first || (atomic_load_explicit(&c->sequence, memory_order_relaxed) & 1));
	if (was_first)
		atomic_store_explicit(&c->sequence, atomic_load_explicit(&c->sequence, memory_order_relaxed) + 1, memory_order_release);
}

/* --- calls.c: what happens at each call */

struct capture_handlers {
	void (*begin)(zend_execute_data *frame);	/* for all functions: PHP may mistake one for another */
	void (*end)(zend_execute_data *frame, zval *result);
};

extern const struct capture_handlers capture_handlers[];	/* by mode */

/* The mode for c->metrics. */
enum capture_mode capture_mode_for(const struct capture *c);

/* Puts a call on the stack; `frame` may be NULL. Returns false if there is no memory: it then is not there. */
bool capture_push(struct capture *c, struct node *n, zend_execute_data *frame);

/* Takes the topmost call off. */
void capture_pop(struct capture *c);

/* Records the order of calls from now on, those that begin; not of those that run. False without memory. */
bool capture_chart_start(struct capture *c);
void capture_chart_stop(struct capture *c);

/* Forgets what has been recorded so far. */
void capture_chart_reset(struct capture *c);

/* The topmost call is not new: a fiber resumes it. */
void capture_chart_resumed(struct capture *c);

/* Brings the values of all running calls up to now. */
void capture_flush(struct capture *c);

/* Measures all running calls from now on, without what passed since they were brought up to date. */
void capture_restart_values(struct capture *c);

/* Gives each session that has none a marker on top of the stack, unless it belongs to a fiber that does not run. */
void capture_mark(struct capture *c);
void capture_mark_session(struct capture *c, struct trace_session *s);

/* The same for the session with that key, unless it has been closed meanwhile. */
void capture_mark_again(struct capture *c, uintptr_t key);

/* The session whose marker an entry is, NULL for other entries. */
struct trace_session *capture_marked_by(struct capture *c, const struct entry *e);

/* Restarts the sessions that ask for it after a fork: when the child's next call begins, or a running call or a session ends. */
void capture_become_child(struct capture *c);

/* The running call that `call` says, below what is on top; NULL only if memory is short. */
struct node *capture_node(struct capture *c, const struct saved_call *call);

/* From now on calls are distinguished by the suffixes of `a`. */
void capture_annotate(struct capture *c, const struct trace_annotation *a);

/* Makes the running stack empty and ready, or idle again. */
bool capture_stack_init(struct capture *c);
void capture_stack_done(struct capture *c);

/* --- observe.c: which functions have handlers */

void observe_startup(int type);
bool observe_available(void);

/* Gives the functions of this thread, and those that are called first from now on, the handlers that the capture and the
 * timers need now, or takes them away. Once the request ends they stay: little runs then, and they record nothing. */
void observe_update(struct capture *c);
void observe_request_end(struct capture *c);

/* --- strands.c: fibers */

void strands_startup(void);
bool strands_init(struct capture *c);
void strands_done(struct capture *c);

/* While calls are put on the stack again: strands that began with the entry `from` begin with the next one. */
void strands_move(struct capture *c, size_t from);

/* Whether the session sees the code running now. */
bool strands_concern(const struct capture *c, const struct trace_session *s);

/* --- allocations.c: what the allocator does */

/* The place where the heap of this thread keeps its use. NULL if it is not where we look for it. */
const struct heap_use *allocations_heap(void);

void allocations_start(struct capture *c);
void allocations_stop(struct capture *c);

/* --- compile.c: compilation of files and of eval's strings */

void compile_request_start(void);
void compile_shutdown(void);

/* --- spill.c */

/* Hands all sessions what they have seen so far and restarts the tree with the running calls. False, with nothing
 * changed, if a session cannot take it, there is no memory, or the running calls alone fill half of the tree. */
bool capture_spill(struct capture *c);

/* --- project.c */

/* The tree of one session, with each node's own values. NULL without memory. */
struct call_tree *capture_project_own(struct capture *c, const struct trace_session *s);

/* The same with inclusive values. */
struct call_tree *capture_project(struct capture *c, const struct trace_session *s);

#endif
