/* callgrind_lines.h: costs of functions and their calls by executed line, since callgrind's files have costs per
 * line. */
#ifndef FORMATS_CALLGRIND_LINES_H
#define FORMATS_CALLGRIND_LINES_H

#include "edges.h"
#include "map.h"

struct callgrind_cost {
	uint32_t line, next;		/* next entry of the same function, or pair; UINT32_MAX: none */
	uint32_t stacks;
	int64_t values[PROFILE_COLUMNS];
};

/* Costs of functions or of pairs, by their number. */
struct callgrind_costs {
	struct callgrind_cost *list;
	size_t count, capacity;
	uint32_t *first;		/* by number; UINT32_MAX: none */

	/* private */
	uint32_t *last;
	struct map known;
};

struct callgrind_lines {
	struct callgrind_costs functions, pairs;
};

/* For a profile with lines and without edges; `e` is the result of edges_of with above_zero, which set `nodes` and
 * `pairs` for each node of the tree. */
void callgrind_lines_init(struct callgrind_lines *l, const struct profile *p, const struct edges *e, const uint32_t *nodes,
			  const uint32_t *pairs);
void callgrind_lines_done(struct callgrind_lines *l);

#endif
