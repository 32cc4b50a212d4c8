/* stack_values.h: one value of many stacks, as a tree of numbers whose names are looked up on demand.
 *
 * A picture shows some thousand nodes of half a million. Building a profile (profile.h) means looking up the names of
 * all of them before any is dropped, so a store that has its stacks as numbers returns these instead. The same stack
 * may occur several times.
 */
#ifndef PROFILE_STACK_VALUES_H
#define PROFILE_STACK_VALUES_H

#include "profile.h"

struct stack_frame {
	struct str name, file;
	uint32_t line;			/* as in struct profile_frame */
};

struct stack_values {
	uint32_t node_count;		/* at least 1; node 0 is the root */
	const uint32_t *parents;	/* by node, smaller than the node itself */
	const uint32_t *node_frames;	/* by node; undefined for the root */
	const uint32_t *node_lines;	/* by node: the executed line, 0 unknown; NULL: no node has one */
	const int64_t *self;		/* by node; NULL: not measured */
	uint32_t frame_count;
	const struct profile *facts;	/* period and labels */

	/* private */
	void (*frame)(const void *owner, uint32_t frame, struct stack_frame *ret);
	void *owner;
	void (*release)(void *owner);	/* NULL: the owner lives longer */
};

/* Returns the values of one column of a profile, which must live as long; UINT32_MAX: no values. */
struct stack_values stack_values_of(const struct profile *p, uint32_t column);

/* The same, but takes ownership of the profile. */
struct stack_values stack_values_take(struct profile *p, uint32_t column);

void stack_values_done(struct stack_values *v);

struct stack_frame stack_values_frame(const struct stack_values *v, uint32_t frame);

/* Like profile_prune, by the value, which becomes the only column. Where values have lines, `max` counts functions, each with
 * all its lines, so that lines leave no less room for functions; if all fit, nothing is pruned. The caller frees. */
struct profile *stack_values_prune(const struct stack_values *v, uint32_t max);

#endif
