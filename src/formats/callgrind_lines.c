/* callgrind_lines.c: adds each node of the tree to a line of its function, and to a line of its caller's calls. */
#include "callgrind_lines.h"
#include "mem.h"
#include "saturate.h"
#include <string.h>

static void costs_init(struct callgrind_costs *c, uint32_t count)
{
	size_t bytes = ((size_t)count + 1) * sizeof(*c->first);

	*c = (struct callgrind_costs){ .first = xmalloc(bytes), .last = xmalloc(bytes) };
	memset(c->first, 0xff, bytes);
	map_init(&c->known);
}

static void costs_done(struct callgrind_costs *c)
{
	free(c->list);
	free(c->first);
	free(c->last);
	map_done(&c->known);
}

static struct callgrind_cost *cost_of(struct callgrind_costs *c, uint32_t thing, uint32_t line)
{
	uint32_t *slot = map_slot(&c->known, map_pair(thing, line));

	if (*slot != MAP_NONE)
		return &c->list[*slot];
	*slot = (uint32_t)c->count;
	GROW(&c->list, &c->capacity, c->count + 1);
	if (c->first[thing] == UINT32_MAX)
		c->first[thing] = *slot;
	else
		c->list[c->last[thing]].next = *slot;
	c->last[thing] = *slot;
	c->list[c->count] = (struct callgrind_cost){ .line = line, .next = UINT32_MAX };
	return &c->list[c->count++];
}

static void add_column(struct callgrind_lines *l, const struct profile *p, uint32_t column, const uint32_t *nodes,
		       const uint32_t *pairs)
{
	bool inclusive = strcmp(p->columns[column].name, "calls");
	_cleanup_(freep) int64_t *total = xmalloc(p->node_count * sizeof(*total));

	for (uint32_t n = 0; n < p->node_count; n++) {
		total[n] = p->columns[column].self[n] > 0 ? p->columns[column].self[n] : 0;
		if (total[n])
			saturating_add(&cost_of(&l->functions, nodes[n], profile_line(p, n))->values[column], total[n]);
	}
	for (uint32_t n = p->node_count - 1; n > 0; n--) {
		uint32_t parent = p->parents[n];

		if (inclusive)
			saturating_add(&total[parent], total[n]);
		saturating_add(&cost_of(&l->pairs, pairs[n], profile_line(p, parent))->values[column], total[n]);
	}
}

void callgrind_lines_init(struct callgrind_lines *l, const struct profile *p, const struct edges *e, const uint32_t *nodes,
			  const uint32_t *pairs)
{
	costs_init(&l->functions, e->node_count);
	costs_init(&l->pairs, e->pair_count);
	for (uint32_t n = 1; n < p->node_count; n++)
		cost_of(&l->pairs, pairs[n], profile_line(p, p->parents[n]))->stacks++;
	for (uint32_t c = 0; c < p->column_count; c++)
		add_column(l, p, c, nodes, pairs);
}

void callgrind_lines_done(struct callgrind_lines *l)
{
	costs_done(&l->functions);
	costs_done(&l->pairs);
}
