/* test_same_edges.h: compares edges including their order; the caller compares frames. */
#ifndef PROFILE_TEST_SAME_EDGES_H
#define PROFILE_TEST_SAME_EDGES_H

#include "edges.h"
#include <string.h>

static inline bool same_edges(const struct edges *a, const struct edges *b)
{
	if (a->node_count != b->node_count || a->pair_count != b->pair_count || a->levels != b->levels)
		return false;
	for (uint32_t n = 0; n < a->node_count; n++)
		if (a->nodes[n].level != b->nodes[n].level || a->nodes[n].once != b->nodes[n].once ||
		    memcmp(a->nodes[n].self, b->nodes[n].self, sizeof(a->nodes[n].self)))
			return false;
	for (uint32_t i = 0; i < a->pair_count; i++)
		if (a->pairs[i].caller != b->pairs[i].caller || a->pairs[i].callee != b->pairs[i].callee ||
		    memcmp(a->pairs[i].value, b->pairs[i].value, sizeof(a->pairs[i].value)))
			return false;
	return true;
}

#endif
