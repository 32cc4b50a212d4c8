/* preorder.c: computes each node's position from the sizes of subtrees, since parents have smaller numbers than
 * children. */
#include "preorder.h"
#include "mem.h"

uint32_t *preorder_new(const struct profile *p)
{
	uint32_t *order = xmalloc(p->node_count * sizeof(*order));
	_cleanup_(freep) uint32_t *sizes = xmalloc(p->node_count * sizeof(*sizes));
	/* position of the next child */
	_cleanup_(freep) uint32_t *next = xmalloc(p->node_count * sizeof(*next));

	for (uint32_t n = 0; n < p->node_count; n++)
		sizes[n] = 1;
	for (uint32_t n = p->node_count - 1; n > 0; n--)
		sizes[p->parents[n]] += sizes[n];
	order[0] = PROFILE_ROOT;
	next[0] = 1;
	for (uint32_t n = 1; n < p->node_count; n++) {
		uint32_t place = next[p->parents[n]];

		order[place] = n;
		next[p->parents[n]] += sizes[n];
		next[n] = place + 1;
	}
	return order;
}
