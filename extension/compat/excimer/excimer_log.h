/* excimer_log.h: samples, each a stack at a moment.
 *
 * A frame is a user function at a line; an internal function is a frame only as the leaf of a stack.
 * Stacks are merged into a tree of frames, so that a sample costs 16 bytes once its stack is known. Functions are
 * distinguished by identity, not by file and line alone: a line may define two of them. Strings are only made on
 * request (excimer_formats.h).
 *
 * Memory is not taken from PHP: a profiler does not count against the memory_limit of the profiled program, and a
 * sample cannot be the allocation that ends the request. Without memory, samples are dropped.
 */
#ifndef STROBE_EXCIMER_LOG_H
#define STROBE_EXCIMER_LOG_H

#include "php.h"

#include "function_id.h"
#include "tick_snapshot.h"

/* A frame called by another one. */
struct excimer_node {
	struct function_id function;	/* without name and file: omitted callers */
	uint32_t line;			/* executed line; 0 in an internal function */
	uint32_t caller;		/* index of a node; 0: none */
	uint32_t last_called;		/* the child seen last, usually seen again next; 0: none */
};

struct excimer_entry {
	uint64_t time_ns;		/* CLOCK_MONOTONIC */
	uint32_t node;			/* innermost frame; 0: no user code was running */
	uint32_t events;		/* number of periods that this sample covers */
};

struct excimer_log {
	struct excimer_entry *entries;
	size_t entry_count, entry_room;
	struct excimer_node *nodes;	/* in order of first occurrence, callers first; node 0 is unused */
	uint32_t node_count, node_room;	/* count: 0, or including node 0 */
	uint32_t *slots;		/* maps hashes of (caller, frame) to nodes; 0 is free. Twice node_room */

	uint64_t events;		/* sum over all entries */
	uint64_t epoch_ns;		/* CLOCK_MONOTONIC: origin of timestamps */
	int64_t period_ns;		/* duration of one event */
	zend_long max_depth;		/* 0: no limit */
};

struct excimer_frame {
	const zend_function *function;
	uint32_t line;
};

/* The frames of a stack, innermost first. Must be zeroed before its first use; the content is valid until PHP code
 * runs. It is reused for many samples, so that its memory is already allocated. */
struct excimer_stack {
	struct excimer_frame *frames;
	size_t count, room;
	bool truncated;			/* the outermost frames were omitted */
};

/* Collects the stack at a moment. Internal functions are kept only as the leaf, but otherwise count towards the
 * depth; the innermost user frame has depth 0, and frames beyond `max_depth` are omitted. A function that has
 * returned since has the line of its definition. False without memory. */
bool excimer_stack_collect(struct excimer_stack *s, const struct tick_snapshot *m, zend_long max_depth);
void excimer_stack_done(struct excimer_stack *s);

/* Adds a sample. A zeroed log is empty. */
bool excimer_log_add(struct excimer_log *log, const struct excimer_stack *s, uint64_t events, uint64_t now_ns);
void excimer_log_done(struct excimer_log *log);

#endif
