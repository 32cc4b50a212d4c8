/* edge_tree_share.c: divides the value of a function among its nodes once the tree is built, so that tree and pairs have equal sums. */
#include "edge_tree_private.h"
#include "mem.h"
#include <string.h>

void edge_tree_add_values(struct edge_tree_building *t, uint32_t node, const int64_t *self)
{
	int64_t off;

	for (unsigned v = 0; v < t->edges->column_count; v++)
		if (t->edges->set & 1u << v)
			profile_add(t->profile, node, t->columns[v], self[v]);
	/* Both are whole microseconds, so -1 is a rounding error. */
	if (t->off_cpu != UINT32_MAX && !__builtin_sub_overflow(self[t->wall], self[t->cpu], &off) &&
	    (off >= 0 || off < -1000))
		profile_add(t->profile, node, t->off_cpu, off);
}

bool edge_tree_is_zero(const struct edge_tree_building *t, const int64_t *value)
{
	for (unsigned v = 0; v < t->edges->column_count; v++)
		if (value[v])
			return false;
	return true;
}

uint32_t edge_tree_folded_child(struct edge_tree_building *t, uint32_t node)
{
	if (t->folded == UINT32_MAX)
		t->folded = profile_frame(t->profile, (struct str){ "[folded]", 8 }, (struct str){ "", 0 }, 0);
	return profile_child(t->profile, node, t->folded);
}

/* Adds the self value of a function without a place in the tree right below the root. */
static void add_own_to_root(struct edge_tree_building *t, uint32_t function)
{
	const int64_t *own = t->edges->own[function];

	if (!edge_tree_is_zero(t, own))
		edge_tree_add_values(t, profile_child(t->profile, PROFILE_ROOT, t->functions[function].frame), own);
}

/* Distributes a function's measured self value over its places, in proportion to their current self values; or, if
 * these are zero, to their totals; or else to the first place. */
static void share_own(struct edge_tree_building *t, unsigned v, uint32_t function, const uint32_t *next, uint32_t first)
{
	int64_t *self = t->profile->columns[t->columns[v]].self, own = t->edges->own[function][v], before = 0, weight;
	bool by_self;
	__int128 sum = 0, sum_with_callees = 0, so_far = 0;

	for (uint32_t i = first; i != UINT32_MAX; i = next[i]) {
		sum += self[t->places[i].node] > 0 ? self[t->places[i].node] : 0;
		sum_with_callees += t->places[i].value[v] > 0 ? t->places[i].value[v] : 0;
	}
	by_self = sum > 0;
	sum = by_self ? sum : sum_with_callees;
	for (uint32_t i = first; i != UINT32_MAX; i = next[i]) {
		int64_t *here = &self[t->places[i].node], after;

		weight = by_self ? *here : t->places[i].value[v];
		so_far += weight > 0 ? weight : 0;
		after = so_far >= sum ? own : (int64_t)((long double)own * (long double)so_far / (long double)sum +
							0.5L);
		*here = after - before;
		before = after;
	}
}

/* Lists the places of each function: first[function], next[place]. */
static void list_places(const struct edge_tree_building *t, uint32_t *first, uint32_t *next)
{
	for (size_t f = 0; f < t->edges->function_count; f++)
		first[f] = UINT32_MAX;
	for (size_t i = t->count; i-- > 0;) {
		next[i] = first[t->places[i].function];
		first[t->places[i].function] = (uint32_t)i;
	}
}

/* Calls are not included in those around them, so folded recursion would lose some: each function's calls are
 * distributed over its places in proportion to their current calls; if these are zero, the first one gets them. */
static void share_calls_of(struct edge_tree_building *t, uint32_t function, const uint32_t *next, uint32_t first)
{
	int64_t calls = t->functions[function].value[EDGE_CALLS], given = 0;
	__int128 sum = 0, so_far = 0;

	for (uint32_t i = first; i != UINT32_MAX; i = next[i])
		sum += t->places[i].value[EDGE_CALLS] > 0 ? t->places[i].value[EDGE_CALLS] : 0;
	for (uint32_t i = first; i != UINT32_MAX; i = next[i]) {
		int64_t until;

		so_far += t->places[i].value[EDGE_CALLS] > 0 ? t->places[i].value[EDGE_CALLS] : 0;
		until = so_far >= sum ? calls : (int64_t)((long double)calls * (long double)so_far / (long double)sum);
		profile_add(t->profile, t->places[i].node, t->columns[EDGE_CALLS], until - given);
		given = until;
	}
}

void edge_tree_share_calls(struct edge_tree_building *t)
{
	size_t count = t->edges->function_count;
	_cleanup_(freep) uint32_t *first = xmalloc((count + 1) * sizeof(*first));
	_cleanup_(freep) uint32_t *next = xmalloc((t->count + 1) * sizeof(*next));
	uint32_t column = t->columns[EDGE_CALLS];

	list_places(t, first, next);
	memset(t->profile->columns[column].self, 0, t->profile->node_count * sizeof(int64_t));
	for (uint32_t f = 0; f < count; f++)
		if (first[f] != UINT32_MAX)
			share_calls_of(t, f, next, first[f]);
		else if (t->functions[f].value[EDGE_CALLS] > 0)
			profile_add(t->profile, edge_tree_folded_child(t, PROFILE_ROOT), column, t->functions[f].value[EDGE_CALLS]);
}

void edge_tree_share_own(struct edge_tree_building *t)
{
	const struct edge_list *e = t->edges;
	_cleanup_(freep) uint32_t *first = xmalloc((e->function_count + 1) * sizeof(*first));
	_cleanup_(freep) uint32_t *next = xmalloc((t->count + 1) * sizeof(*next));

	list_places(t, first, next);
	for (uint32_t f = 0; f < e->own_count; f++) {
		if (first[f] == UINT32_MAX)
			add_own_to_root(t, f);
		for (unsigned v = 0; v < e->column_count && first[f] != UINT32_MAX; v++)
			if (e->set & 1u << v)
				share_own(t, v, f, next, first[f]);
	}
}
