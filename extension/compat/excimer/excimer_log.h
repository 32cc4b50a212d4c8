/* excimer_log.h: samples, each a stack at a moment.
 *
 * A frame is a user function that stands at a line; an internal function is a frame only as the leaf of a stack.
 * Stacks are merged into a tree of frames, so that a sample costs 16 bytes once its stack is known. Functions are
 * distinguished by identity, not by file and line alone: a line may define two of them. Strings are only made on
 * request (excimer_formats.h).
 *
 * The memory is not PHP's: a profiler does not count against the memory_limit of what it profiles, and a sample cannot
 * be the allocation that ends the request. When there is none, a sample is dropped.
 */
#ifndef STROBE_EXCIMER_LOG_H
#define STROBE_EXCIMER_LOG_H

#include "php.h"

#include "function_id.h"
#include "tick_snapshot.h"

/* One frame, called by another. */
struct excimer_node {
	struct function_id function;	/* neither name nor file: the callers that were left out */
	uint32_t line;			/* being executed; 0 in an internal function */
	uint32_t caller;		/* node; 0: none */
	uint32_t last_called;		/* node that was seen last below this one; 0: none. Mostly it is the next one
					 * again */
};

struct excimer_entry {
	uint64_t time_ns;		/* CLOCK_MONOTONIC */
	uint32_t node;			/* the innermost frame; 0: no user code was running */
	uint32_t events;		/* periods that this sample stands for */
};

struct excimer_log {
	struct excimer_entry *entries;
	size_t entry_count, entry_room;
	struct excimer_node *nodes;	/* in the order they were first seen, callers first; node 0 is none */
	uint32_t node_count, node_room;	/* count: 0, or with node 0 */
	uint32_t *slots;		/* hash from (caller, frame) to node; 0 is free. Twice node_room */

	uint64_t events;		/* sum over the entries */
	uint64_t epoch_ns;		/* CLOCK_MONOTONIC: where timestamps begin */
	int64_t period_ns;		/* time that one event stands for */
	zend_long max_depth;		/* 0: no limit */
};

struct excimer_frame {
	const zend_function *function;
	uint32_t line;
};

/* The frames of a stack, innermost first. Zeroed before its first use; what it holds is good until PHP code runs.
 * One is used for many samples, so that its memory is there. */
struct excimer_stack {
	struct excimer_frame *frames;
	size_t count, room;
	bool truncated;			/* the outermost ones were left out */
};

/* Collects the stack at a moment. Internal functions are kept only as the leaf, but count as depth elsewhere; the
 * depth of the innermost user frame is 0, and frames beyond `max_depth` are left out. A function that has returned
 * since has the line of its definition. False without memory. */
bool excimer_stack_collect(struct excimer_stack *s, const struct tick_snapshot *m, zend_long max_depth);
void excimer_stack_done(struct excimer_stack *s);

/* A log that is all zero is empty. */
bool excimer_log_add(struct excimer_log *log, const struct excimer_stack *s, uint64_t events, uint64_t now_ns);
void excimer_log_done(struct excimer_log *log);

#endif
