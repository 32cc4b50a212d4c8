/* edges.c: finds nodes and pairs by number, and merges the edges of several profiles. */
#include "edges.h"
#include "mem.h"
#include "saturate.h"
#include <assert.h>
#include <string.h>

struct edges *edges_new(void)
{
	struct edges *e = xcalloc(1, sizeof(*e));

	e->levels = true;
	map_init(&e->by_node);
	map_init(&e->by_pair);
	edges_node(e, UINT32_MAX, 0);
	return e;
}

struct edges *edges_free(struct edges *e)
{
	if (!e)
		return NULL;
	map_done(&e->by_node);
	map_done(&e->by_pair);
	free(e->nodes);
	free(e->pairs);
	free(e);
	return NULL;
}

uint32_t edges_node(struct edges *e, uint32_t frame, uint32_t level)
{
	uint32_t *slot = map_slot(&e->by_node, map_pair(frame, level));

	assert((frame == UINT32_MAX) == (e->node_count == 0 || *slot == EDGES_ROOT));	/* the root is the first, and has no frame */
	if (*slot == MAP_NONE) {
		*slot = e->node_count;
		GROW(&e->nodes, &e->node_capacity, (size_t)e->node_count + 1);
		e->nodes[e->node_count++] = (struct edges_node){ .frame = frame, .level = level, .once = true };
	}
	return *slot;
}

void edges_not_once(struct edges *e, uint32_t node)
{
	assert(node < e->node_count);
	e->nodes[node].once = e->levels = false;
}

uint32_t edges_pair(struct edges *e, uint32_t caller, uint32_t callee)
{
	uint32_t *slot = map_slot(&e->by_pair, map_pair(caller, callee));

	assert(caller < e->node_count && callee < e->node_count);
	if (*slot == MAP_NONE) {
		*slot = e->pair_count;
		GROW(&e->pairs, &e->pair_capacity, (size_t)e->pair_count + 1);
		e->pairs[e->pair_count++] = (struct edges_pair){ .caller = caller, .callee = callee };
	}
	return *slot;
}

static void add_values(int64_t *sums, const int64_t *values, const struct edges_places *to)
{
	for (uint32_t c = 0; c < to->column_count; c++)
		if (to->columns[c] != UINT32_MAX && values[c])
			saturating_add(&sums[to->columns[c]],
				       saturating_product(values[c], to->factors ? to->factors[c] : 1));
}

void edges_add(struct edges *into, const struct edges *from, const struct edges_places *to)
{
	_cleanup_(freep) uint32_t *nodes = xmalloc(from->node_count * sizeof(*nodes));
	_cleanup_(freep) bool *taken = xcalloc((size_t)into->node_count + from->node_count, sizeof(*taken));

	for (uint32_t n = 0; n < from->node_count; n++) {
		const struct edges_node *node = &from->nodes[n];

		nodes[n] = n == EDGES_ROOT ? EDGES_ROOT :
					     edges_node(into, to->frames[node->frame], to->fold ? 0 : node->level);
		/* Two nodes that are merged may have called each other. */
		if (!node->once || taken[nodes[n]] || (to->fold && n != EDGES_ROOT))
			edges_not_once(into, nodes[n]);
		taken[nodes[n]] = true;
		add_values(into->nodes[nodes[n]].self, node->self, to);
	}
	assert(nodes[EDGES_ROOT] == EDGES_ROOT);
	for (uint32_t i = 0; i < from->pair_count; i++) {
		const struct edges_pair *pair = &from->pairs[i];
		uint32_t at = edges_pair(into, nodes[pair->caller], nodes[pair->callee]);

		into->pairs[at].stacks += pair->stacks;
		add_values(into->pairs[at].value, pair->value, to);
	}
}

static int64_t scaled(int64_t v, int64_t numerator, int64_t denominator)
{
	__int128 product = (__int128)v * numerator;
	__int128 half = product < 0 ? -(denominator / 2) : denominator / 2;
	__int128 quotient = (product + half) / denominator;

	return quotient > INT64_MAX ? INT64_MAX : quotient < INT64_MIN ? INT64_MIN : (int64_t)quotient;
}

/* Rounds self values cumulatively over the nodes, so that they add up to the rounded total. */
void edges_scale(struct edges *e, uint32_t from, uint32_t to, int64_t numerator, int64_t denominator)
{
	int64_t sum = 0, given = 0;

	assert(from < PROFILE_COLUMNS && to < PROFILE_COLUMNS && denominator > 0);
	for (uint32_t n = 0; n < e->node_count; n++) {
		int64_t until;

		saturating_add(&sum, e->nodes[n].self[from]);
		until = scaled(sum, numerator, denominator);
		e->nodes[n].self[to] = saturating_difference(until, given);
		given = until;
	}
	for (uint32_t i = 0; i < e->pair_count; i++)
		e->pairs[i].value[to] = scaled(e->pairs[i].value[from], numerator, denominator);
}

void edges_subtract(struct edges *e, uint32_t from, uint32_t less, uint32_t to)
{
	assert(from < PROFILE_COLUMNS && less < PROFILE_COLUMNS && to < PROFILE_COLUMNS);
	for (uint32_t n = 0; n < e->node_count; n++)
		e->nodes[n].self[to] = saturating_difference(e->nodes[n].self[from], e->nodes[n].self[less]);
	for (uint32_t i = 0; i < e->pair_count; i++)
		e->pairs[i].value[to] = saturating_difference(e->pairs[i].value[from], e->pairs[i].value[less]);
}
