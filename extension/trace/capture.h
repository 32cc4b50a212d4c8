/* capture.h: shared by the files of trace/: the state of the current trace.
 *
 * One per PHP thread. It is active while at least one session is open. Running calls are entries of one stack. A
 * fiber's calls are its upper part, which is removed when the fiber is suspended and pushed on top of its resumer
 * when it resumes, so that each moment belongs to exactly one path from the root. Each open session has one entry
 * among them, its marker: the session sees the nodes below its marker.
 */
#ifndef STROBE_CAPTURE_H
#define STROBE_CAPTURE_H

#include "call_chart.h"
#include "cpu_clock.h"
#include "nodes.h"
#include "timers.h"
#include "tracer.h"

#include <stdatomic.h>

/* A running call. */
struct entry {
	struct node *node;
	zend_execute_data *frame;	/* NULL: a marker, a compilation, or the bottom of the stack */
	uint64_t wall, cpu;		/* ticks when it began, or was last updated */
	int64_t memory, peak;
	struct chart_call *call;	/* while a chart is recorded */
};

struct trace_session {
	struct trace_options options;
	uintptr_t key;			/* key of its markers: odd, unlike those of functions */
	struct function *function;	/* function of its markers */
	struct call_tree *spilled;	/* set only temporarily */
	size_t at;			/* index of its marker in the stack; 0: none */
	uint64_t start_ns;		/* since 1970 */
	uint64_t start_ticks;		/* the same moment, in ticks */
	const void *context;		/* its fiber context; NULL: all */
	struct trace_session *next;	/* session opened next */
};

/* A fiber, or the main program, that is running or waits for one that it has resumed. */
struct strand {
	zend_fiber_context *context;
	size_t bottom;			/* index of its first entry */
};

struct suspended {
	zend_fiber_context *context;
	struct saved_call *calls;
	size_t count;
	struct suspended *next;
};

/* A call stored independently of its node, which may be freed earlier. */
struct saved_call {
	uintptr_t key;
	struct function *function;	/* NULL: there was no memory */
	zend_execute_data *frame;	/* NULL: the marker of a session that belongs to this fiber */
};

/* PHP's memory usage, in the layout of its allocator. */
struct heap_use {
	size_t now, peak;
};

/* Each set of metrics has its own handlers; CAPTURE_ANY checks capture.metrics at each call. Variants with a chart
 * record that, too; polled variants also check whether a timer is due. */
enum capture_mode { CAPTURE_COUNTS, CAPTURE_WALL, CAPTURE_CPU, CAPTURE_MEMORY, CAPTURE_FULL, CAPTURE_ANY,
	CAPTURE_WALL_CHART, CAPTURE_FULL_CHART, CAPTURE_ANY_CHART,
	CAPTURE_COUNTS_POLLED, CAPTURE_ANY_POLLED, CAPTURE_ANY_CHART_POLLED };

struct capture {
	/* Accessed by each call. */
	struct entry *top, *limit;	/* limit: end of the array; while idle, the entry above the only one */
	struct node **guess;		/* place of the next child of top->node: its `first`, or `after` of the one that ended */
	const struct heap_use *heap;	/* NULL: not found, so PHP's functions are called */
	struct cpu_clock cpu;
	unsigned metrics;		/* values measured at each call: those requested by any session, and
					 * by-products */

	bool active;
	bool internals, files, loads;	/* requested by any session */
	enum capture_mode mode;
	struct entry idle[1];		/* the stack while nothing is traced: calls find it full, ends find no frame */
	struct entry *stack;
	struct allocation_counts *stack_counts;	/* parallel to the stack, with TRACE_ALLOCATIONS */
	size_t capacity;
	uint64_t overflow;		/* number of calls for which there was no memory */
	struct allocation_counts counts;
	bool counting;
	struct entry *forked;		/* this is a child that has not noticed it: the call that ran, or NULL. The stack looks full … */
	zend_execute_data *forked_in;	/* … and the call has no frame, so that its end is not found: it has this one */
	bool warned;			/* the error log already has a message about folded calls in this request */
	bool muted;			/* calls are temporarily not recorded: the stack looks full */
	const struct trace_annotation *annotation;
	_Atomic uint32_t sequence;		/* odd during a change that takes several steps (trace_copy.h) */

	struct nodes nodes;
	struct chart chart;
	struct trace_session *sessions;	/* in the order of opening */
	double ns_per_tick;
	struct strobe_timer timer;	/* timer for sampled time */

	struct strand *strands;		/* the last one is running */
	size_t strand_count, strand_capacity;
	struct suspended *suspended;

	bool polling;			/* timers are waiting for calls (delivery.h) */
	const struct capture_handlers *installed;	/* handlers in use; NULL: none */
	bool installed_internals, installed_files;

	uintptr_t *seen;		/* run-time caches of functions known to the observer in this request, packed */
	uint32_t seen_count, seen_capacity;
};

#ifdef ZTS
extern TSRM_TLS struct capture *strobe_capture TSRM_TLS_MODEL_ATTR;
#define CAPTURE strobe_capture
#else
extern struct capture strobe_capture;
#define CAPTURE (&strobe_capture)
#endif

/* Call these around changes of more than the innermost call and its nodes. Returns false for a nested change; call
 * capture_changed only if true. */
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

/* --- calls.c: beginning and end of calls */

struct capture_handlers {
	void (*begin)(zend_execute_data *frame);	/* for any function: PHP may confuse one with another */
	void (*end)(zend_execute_data *frame, zval *result);
};

extern const struct capture_handlers capture_handlers[];	/* by mode */

/* Returns the mode for c->metrics. */
enum capture_mode capture_mode_for(const struct capture *c);

/* Pushes a call; `frame` may be NULL. Returns false, without pushing it, if there is no memory. */
bool capture_push(struct capture *c, struct node *n, zend_execute_data *frame);

/* Pops the topmost call. */
void capture_pop(struct capture *c);

/* Records the order of calls that begin from now on; running calls are not recorded. False without memory. */
bool capture_chart_start(struct capture *c);
void capture_chart_stop(struct capture *c);

/* Discards the records so far. */
void capture_chart_reset(struct capture *c);

/* Marks the topmost call's record: it is not a new call but was resumed with its fiber. */
void capture_chart_resumed(struct capture *c);

/* Updates the values of all running calls to now. */
void capture_flush(struct capture *c);

/* Restarts measuring all running calls, ignoring what passed since their last update. */
void capture_restart_values(struct capture *c);

/* Pushes a marker for each session that has none, unless it belongs to a fiber that is not running. */
void capture_mark(struct capture *c);
void capture_mark_session(struct capture *c, struct trace_session *s);

/* Does the same for the session with that key, unless it has been closed. */
void capture_mark_again(struct capture *c, uintptr_t key);

/* Returns the session of a marker; NULL for other entries. */
struct trace_session *capture_marked_by(struct capture *c, const struct entry *e);

/* Restarts the sessions that request it after a fork: when the child's next call begins, or a running call or a
 * session ends. */
void capture_become_child(struct capture *c);

/* Returns the node for a stored call, below the topmost call; NULL only without memory. */
struct node *capture_node(struct capture *c, const struct saved_call *call);

/* From now on, distinguishes calls by the suffixes of `a`. */
void capture_annotate(struct capture *c, const struct trace_annotation *a);

/* Empties the stack for a trace, or makes it idle again. */
bool capture_stack_init(struct capture *c);
void capture_stack_done(struct capture *c);

/* --- observe.c: handlers of functions */

void observe_startup(int type);
bool observe_available(void);

/* Sets or removes the handlers that capture and timers need now, for known functions of this thread and those called
 * first from now on. At the end of the request they stay: little runs then, and they record nothing. */
void observe_update(struct capture *c);
void observe_request_end(struct capture *c);

/* --- strands.c: fibers */

void strands_startup(void);
bool strands_init(struct capture *c);
void strands_done(struct capture *c);

/* While calls are pushed again: strands that began with the entry `from` begin with the next one. */
void strands_move(struct capture *c, size_t from);

/* Whether the session sees the code that is running now. */
bool strands_concern(const struct capture *c, const struct trace_session *s);

/* --- allocations.c: counting allocations */

/* Returns where this thread's heap has its usage; NULL if it is not where expected. */
const struct heap_use *allocations_heap(void);

void allocations_start(struct capture *c);
void allocations_stop(struct capture *c);

/* --- compile.c: compilation of files and eval's strings */

void compile_request_start(void);
void compile_shutdown(void);

/* --- spill.c */

/* Passes to each session what it has recorded so far, and restarts the tree with the running calls. False, without
 * changes, if a session does not support that, there is no memory, or the running calls alone fill half of the tree. */
bool capture_spill(struct capture *c);

/* --- project.c */

/* Returns the tree of one session, with exclusive values. NULL without memory. */
struct call_tree *capture_project_own(struct capture *c, const struct trace_session *s);

/* Does the same with inclusive values. */
struct call_tree *capture_project(struct capture *c, const struct trace_session *s);

#endif
