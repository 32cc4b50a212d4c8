/* tree_walk.h: walks a tree depth-first, iteratively.
 *
 * Uses PHP's memory: programs request formats, so these count against their limit.
 */
#ifndef STROBE_TREE_WALK_H
#define STROBE_TREE_WALK_H

#include "tree_values.h"

/* The most frames in a written stack; deeper ones become one frame "[elided]", because the text of a recursion of n
 * calls would otherwise have n²/2 frames. */
#define STACKS_DEPTH	512

struct tree_visitor {
	void (*enter)(void *data, uint32_t node, uint32_t depth);	/* the root has depth 0; NULL: not needed */
	void (*leave)(void *data, uint32_t node, uint32_t depth);
};

/* Visits all nodes, parents before children, children in the order of their indices. */
void tree_walk(const struct call_tree *t, const struct tree_visitor *v, void *data);

struct stack_visitor {
	const int *metrics;
	unsigned metric_count;
	void (*stack)(void *data, const uint32_t *functions, size_t depth, const int64_t *values);
};

/* Visits all stacks with a self value in at least one of the metrics: functions by index, root first, where
 * function_count means "[elided]". The root of an exact tree is a frame; that of a sampled one is not. */
void stacks_walk(const struct call_tree *t, const struct stack_visitor *v, void *data);

/* Returns the names of all functions by index, followed by that of "[elided]"; free them with names_free. */
zend_string **names_new(const struct call_tree *t);
void names_free(zend_string **names, const struct call_tree *t);

#endif
