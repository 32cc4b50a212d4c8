/* edges_cycles.c: finds nodes that can reach each other: Tarjan's algorithm, without recursion. */
#include "edges.h"
#include "mem.h"

#include <assert.h>

#define NONE UINT32_MAX

/* The pairs, sorted by one of their ends. */
struct by_end {
	uint32_t *first;	/* by node, plus one: index of its first pair in the list */
	uint32_t *list;
};

static void by_end_init(struct by_end *b, const struct edges *e, bool callee)
{
	b->first = xcalloc((size_t)e->node_count + 2, sizeof(*b->first));
	b->list = xmalloc(((size_t)e->pair_count + 1) * sizeof(*b->list));
	for (uint32_t i = 0; i < e->pair_count; i++)
		b->first[(callee ? e->pairs[i].callee : e->pairs[i].caller) + 2]++;
	for (uint32_t n = 0; n < e->node_count; n++)
		b->first[n + 2] += b->first[n + 1];
	for (uint32_t i = 0; i < e->pair_count; i++)
		b->list[b->first[(callee ? e->pairs[i].callee : e->pairs[i].caller) + 1]++] = i;
}

static void by_end_done(struct by_end *b)
{
	free(b->first);
	free(b->list);
}

struct search {
	const struct edges *e;
	struct by_end callees;
	uint32_t *number, *lowest;	/* by node: order in which they were visited; NONE: not yet */
	uint32_t *next;			/* by node: the next of its pairs to be visited */
	uint32_t *path, path_count;	/* from the start of the search to the current node */
	uint32_t *open, open_count;	/* visited, but not part of a cycle yet */
	uint32_t *cycle, cycles, met;
};

static void meet(struct search *s, uint32_t node)
{
	assert(s->number[node] == NONE && s->path_count < s->e->node_count);
	s->number[node] = s->lowest[node] = s->met++;
	s->next[node] = s->callees.first[node];
	s->path[s->path_count++] = node;
	s->open[s->open_count++] = node;
}

static void leave(struct search *s, uint32_t node)
{
	uint32_t above = --s->path_count ? s->path[s->path_count - 1] : NONE, one;

	assert(s->lowest[node] <= s->number[node]);
	if (above != NONE && s->lowest[node] < s->lowest[above])
		s->lowest[above] = s->lowest[node];
	if (s->lowest[node] != s->number[node])
		return;
	do {
		assert(s->open_count > 0);
		one = s->open[--s->open_count];
		s->cycle[one] = s->cycles;
	} while (one != node);
	s->cycles++;
}

static void search_from(struct search *s, uint32_t start)
{
	meet(s, start);
	while (s->path_count) {
		uint32_t node = s->path[s->path_count - 1], callee;

		if (s->next[node] == s->callees.first[node + 1]) {
			leave(s, node);
			continue;
		}
		callee = s->e->pairs[s->callees.list[s->next[node]++]].callee;
		if (s->number[callee] == NONE)
			meet(s, callee);
		else if (s->cycle[callee] == NONE && s->number[callee] < s->lowest[node])
			s->lowest[node] = s->number[callee];
	}
}

static uint32_t *numbers(uint32_t count)
{
	uint32_t *list = xmalloc(count * sizeof(*list));

	for (uint32_t i = 0; i < count; i++)
		list[i] = NONE;
	return list;
}

uint32_t *edges_cycles(const struct edges *e)
{
	_cleanup_(freep) uint32_t *number = numbers(e->node_count), *lowest = numbers(e->node_count);
	_cleanup_(freep) uint32_t *next = numbers(e->node_count), *path = numbers(e->node_count);
	_cleanup_(freep) uint32_t *open = numbers(e->node_count);
	struct search s = { .e = e, .number = number, .lowest = lowest, .next = next, .path = path, .open = open, .cycle = numbers(e->node_count) };

	by_end_init(&s.callees, e, false);
	for (uint32_t n = 0; n < e->node_count; n++)
		if (number[n] == NONE)
			search_from(&s, n);
	assert(s.met == e->node_count && !s.open_count);
	by_end_done(&s.callees);
	return s.cycle;
}

bool edges_are_circular(const struct edges *e)
{
	_cleanup_(freep) uint32_t *cycle = e->levels ? NULL : edges_cycles(e);

	for (uint32_t i = 0; cycle && i < e->pair_count; i++)
		if (cycle[e->pairs[i].caller] == cycle[e->pairs[i].callee] && !e->nodes[e->pairs[i].callee].once)
			return true;
	return false;
}

bool *edges_reaching(const struct edges *e, const bool *is)
{
	bool *reaching = xcalloc(e->node_count, sizeof(*reaching));
	_cleanup_(freep) uint32_t *waiting = xmalloc(e->node_count * sizeof(*waiting));
	struct by_end callers;
	uint32_t count = 0;

	by_end_init(&callers, e, true);
	for (uint32_t n = 0; n < e->node_count; n++)
		if (is[n]) {
			reaching[n] = true;
			waiting[count++] = n;
		}
	while (count) {
		uint32_t node = waiting[--count];

		for (uint32_t i = callers.first[node]; i < callers.first[node + 1]; i++) {
			uint32_t caller = e->pairs[callers.list[i]].caller;

			if (reaching[caller])
				continue;
			assert(count < e->node_count);
			reaching[caller] = true;
			waiting[count++] = caller;
		}
	}
	by_end_done(&callers);
	return reaching;
}
