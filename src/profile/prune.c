/* prune.c: reduces the nodes of a profile, keeping its sums. */
#include "mem.h"
#include "profile.h"
#include <assert.h>
#include <string.h>

/* Totals are counted by their highest five bits: up to 15 individually, then in 16 parts per power of two, so that
 * the limit is at most 1/16 above the best one. */
#define PARTS		16u
#define PARTS_BITS	4u
#define CLASSES		(PARTS + (63u - PARTS_BITS) * PARTS)

static unsigned class_of(int64_t total)
{
	uint64_t v = total > 0 ? (uint64_t)total : 0;
	unsigned bits;

	if (v < PARTS)
		return (unsigned)v;
	bits = 63u - (unsigned)__builtin_clzll(v) - PARTS_BITS;
	assert(v >> bits >= PARTS && v >> bits < 2 * PARTS);
	return PARTS + bits * PARTS + (unsigned)(v >> bits & (PARTS - 1));
}

static int64_t least_of_class(unsigned class)
{
	if (class < PARTS)
		return class;
	return (int64_t)((uint64_t)(PARTS + class % PARTS) << (class / PARTS - 1));
}

int64_t profile_least_kept(const int64_t *totals, const bool *counted, uint32_t count, uint32_t max)
{
	uint32_t counts[CLASSES] = { 0 };
	unsigned class = CLASSES;
	uint64_t kept = 0;

	for (uint32_t i = 0; i < count; i++)
		counts[class_of(totals[i])] += !counted || counted[i];
	while (class > 0 && kept + counts[class - 1] <= max)
		kept += counts[--class];
	assert(kept <= max);
	return class == CLASSES ? INT64_MAX : least_of_class(class);
}

uint32_t profile_pruned_frame(struct profile *p)
{
	return profile_frame(p, (struct str){ PROFILE_PRUNED, strlen(PROFILE_PRUNED) }, (struct str){ "", 0 }, 0);
}

struct profile *profile_prune(const struct profile *p, uint32_t column, uint32_t max)
{
	_cleanup_(freep) int64_t *totals = profile_totals(p, column);
	_cleanup_(freep) uint32_t *nodes = xmalloc(p->node_count * sizeof(*nodes));
	_cleanup_(freep) bool *cut = xcalloc(p->node_count, sizeof(*cut));
	int64_t least = profile_least_kept(totals, NULL, p->node_count, max / 2);
	struct profile *to = profile_new_like(p);
	uint32_t pruned = profile_pruned_frame(to);

	nodes[PROFILE_ROOT] = PROFILE_ROOT;
	profile_add_node(to, PROFILE_ROOT, p, PROFILE_ROOT);
	for (uint32_t n = 1; n < p->node_count; n++) {
		uint32_t parent = p->parents[n];

		assert(parent < n);
		cut[n] = cut[parent] || totals[n] < least;
		if (cut[parent])
			nodes[n] = nodes[parent];
		else
			nodes[n] = cut[n] ? profile_child(to, nodes[parent], pruned) :
				   profile_child_at(to, nodes[parent], p->node_frames[n], profile_line(p, n));
		profile_add_node(to, nodes[n], p, n);
	}
	return to;
}
