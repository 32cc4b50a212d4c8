/* recursion.c: removes direct recursion from stacks, so that a recursive function is one box at any depth. */
#include "profile.h"

#include "mem.h"

static bool calls_itself(const struct profile *p, uint32_t node)
{
	uint32_t parent = p->parents[node];

	return parent != PROFILE_ROOT &&
	       p->frames[p->node_frames[node]].name == p->frames[p->node_frames[parent]].name;
}

struct profile *profile_without_recursion(const struct profile *p)
{
	_cleanup_(freep) uint32_t *nodes = xcalloc(p->node_count, sizeof(*nodes));
	struct profile *r = profile_new_like(p);

	for (uint32_t n = 1; n < p->node_count; n++) {
		nodes[n] = nodes[p->parents[n]];
		if (!calls_itself(p, n))
			nodes[n] = profile_child(r, nodes[n], p->node_frames[n]);
		profile_add_node(r, nodes[n], p, n);
	}
	return r;
}
