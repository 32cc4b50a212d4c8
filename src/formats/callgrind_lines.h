/* callgrind_lines.h: costs of functions and their calls by executed line, since callgrind's files have costs per
 * line. */
#ifndef FORMATS_CALLGRIND_LINES_H
#define FORMATS_CALLGRIND_LINES_H

#include "edges.h"
#include "map.h"

struct callgrind_cost {
	uint32_t line, next;		/* the next one of the same function, or pair; UINT32_MAX ends */
	uint32_t stacks;
	int64_t values[PROFILE_COLUMNS];
};

/* Costs of one kind of things, by the number of the thing. */
struct callgrind_costs {
	struct callgrind_cost *list;
	size_t count, capacity;
	uint32_t *first;		/* by thing; UINT32_MAX: it has none */

	/* private */
	uint32_t *last;
	struct map known;
};

struct callgrind_lines {
	struct callgrind_costs functions, pairs;
};

/* For a profile with lines and without edges; `e` is edges_of it, with values above zero, which set in `nodes` and
 * `pairs` what each node of the tree is there. */
void callgrind_lines_init(struct callgrind_lines *l, const struct profile *p, const struct edges *e, const uint32_t *nodes,
			  const uint32_t *pairs);
void callgrind_lines_done(struct callgrind_lines *l);

#endif
