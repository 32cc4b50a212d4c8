/* stack_values.h: one value of many stacks, as a tree of numbers whose names are looked up when they are needed.
 *
 * A picture shows some thousand nodes of half a million. A profile (profile.h) has looked up the names of all of them before the first
 * is dropped; a store that has its stacks as numbers hands these out instead. The same stack may be there several times.
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
	const uint32_t *node_frames;	/* by node; that of the root means nothing */
	const uint32_t *node_lines;	/* by node: the executed line, 0 unknown; NULL: no node has one */
	const int64_t *self;		/* by node; NULL: not measured */
	uint32_t frame_count;
	const struct profile *facts;	/* period and labels */

	/* private */
	void (*frame)(const void *owner, uint32_t frame, struct stack_frame *ret);
	void *owner;
	void (*release)(void *owner);	/* NULL: the owner lives longer */
};

/* The values of one column of a profile, which must live as long; UINT32_MAX: no values. */
struct stack_values stack_values_of(const struct profile *p, uint32_t column);

/* The same, and the profile belongs to them. */
struct stack_values stack_values_take(struct profile *p, uint32_t column);

void stack_values_done(struct stack_values *v);

struct stack_frame stack_values_frame(const struct stack_values *v, uint32_t frame);

/* profile_prune of the value, whose column is the only one. The caller frees. */
struct profile *stack_values_prune(const struct stack_values *v, uint32_t max);

#endif
