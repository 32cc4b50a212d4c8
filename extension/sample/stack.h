/* stack.h: PHP's stack at a moment, as a list of functions with their opcodes.
 *
 * Reads the VM's frames and changes nothing: no allocation, no reference counts, no exceptions.
 */
#ifndef STROBE_STACK_H
#define STROBE_STACK_H

#include "tick_snapshot.h"

/* The maximum depth of a walk when the caller already knows the root: 1 M frames take milliseconds. */
#define STACK_WALK_MAX 16384

struct stack_frame {
	const zend_function *function;	/* NULL means omitted frames */
	const zend_op *op;		/* being executed, or calling the next frame. May be invalid, so it is
					 * dereferenced only if it belongs to the function (stack_op); NULL: unknown */
};

struct stack {
	struct stack_frame *frames;	/* leaf first; room for max_depth + 1 */
	size_t depth;
	size_t elided_at;		/* index of that NULL; 0 if no frames were omitted */
	bool rootless;			/* the walk stopped early: the last entry is that NULL */
};

/* Returns the opcode of a function that a frame executes; NULL if it is not one of the function's own. */
const zend_op *stack_op(const zend_function *f, const zend_op *op);

/* Collects the functions running at a moment, innermost first, at most `max_depth` (at least 2): a deeper stack is
 * reduced to the half at the leaf and the half at the root, with NULL between them. With `limit_walk` stops after
 * STACK_WALK_MAX frames and returns only the half at the leaf, with `rootless` set. The pointers are valid until PHP
 * code runs again. */
void stack_collect(struct stack *s, const struct tick_snapshot *m, size_t max_depth, bool limit_walk);

#endif
