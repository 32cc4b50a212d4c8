/* edge_tree.c: expands the largest place first, until all are expanded or the tree is large enough. */
#include "edge_tree_private.h"
#include "mem.h"
#include "saturate.h"
#include <assert.h>
#include <errno.h>
#include <limits.h>
#include <string.h>

#define VISITS_MAX	20000000u	/* visits of edges, 2 s; after that, callees are not visited individually */
#define CYCLE_LEVELS	256		/* levels up in which a function is searched before it is expanded again */

static bool is_wider(const struct edge_tree_building *t, uint32_t a, uint32_t b)
{
	int64_t x = t->places[a].value[t->width], y = t->places[b].value[t->width];

	return x != y ? x > y : a < b;
}

static void heap_push(struct edge_tree_building *t, uint32_t place)
{
	size_t i = t->heap_count++;

	GROW(&t->heap, &t->heap_capacity, t->heap_count);
	for (; i && is_wider(t, place, t->heap[(i - 1) / 2]); i = (i - 1) / 2)
		t->heap[i] = t->heap[(i - 1) / 2];
	t->heap[i] = place;
}

static uint32_t heap_pop(struct edge_tree_building *t)
{
	uint32_t top = t->heap[0], last = t->heap[--t->heap_count];
	size_t i = 0;

	for (;;) {
		size_t child = 2 * i + 1;

		if (child >= t->heap_count)
			break;
		if (child + 1 < t->heap_count && is_wider(t, t->heap[child + 1], t->heap[child]))
			child++;
		if (!is_wider(t, t->heap[child], last))
			break;
		t->heap[i] = t->heap[child];
		i = child;
	}
	t->heap[i] = last;
	return top;
}

/* Returns a string of the profile; `ids` caches the strings, UINT32_MAX until first used. */
static uint32_t string_of(const struct edge_tree_building *t, uint32_t string, uint32_t *ids)
{
	struct str s = intern_get(&t->edges->strings, string);

	if (ids[string] == UINT32_MAX)
		ids[string] = intern_add(&t->profile->strings, s.p, s.n);
	return ids[string];
}

static uint32_t frame_of(const struct edge_tree_building *t, uint32_t function, uint32_t *ids)
{
	const struct edge_list_function *f = &t->edges->functions[function];
	uint32_t name = string_of(t, f->name, ids);

	return profile_frame_of(t->profile, name, string_of(t, f->file, ids), f->line);
}

static void sum_up_functions(struct edge_tree_building *t)
{
	const struct edge_list *e = t->edges;
	_cleanup_(freep) uint32_t *ids = xmalloc(e->strings.count * sizeof(*ids));

	memset(ids, 0xff, e->strings.count * sizeof(*ids));
	t->functions = xcalloc(e->function_count + 1, sizeof(*t->functions));
	t->next = xmalloc((e->count + 1) * sizeof(*t->next));
	for (size_t i = 0; i < e->function_count; i++) {
		t->functions[i].first = UINT32_MAX;
		t->functions[i].frame = frame_of(t, (uint32_t)i, ids);
	}
	/* Backwards, so that callees keep the order of the input. */
	for (size_t i = e->count; i-- > 0;) {
		const struct edge *edge = &e->items[i];
		struct edge_tree_function *callee = &t->functions[edge->callee];

		/* A function's measured self value includes its calls of itself. */
		if (e->own && edge->caller == edge->callee) {
			t->estimated = true;
			continue;
		}
		for (unsigned v = 0; v < t->edges->column_count; v++)
			saturating_add(&callee->value[v], edge->value[v]);
		for (unsigned v = 0; v < t->edges->column_count; v++)
			callee->uneven[v] |= edge->value[v] < 0;
		callee->is_callee |= edge->caller != UINT32_MAX && edge->caller != edge->callee;
		if (edge->caller == UINT32_MAX)
			continue;
		t->next[i] = t->functions[edge->caller].first;
		t->functions[edge->caller].first = (uint32_t)i;
	}
}

/* A function without an entry gets the sum of its callees. */
static void add_missing_values(struct edge_tree_building *t, uint32_t function)
{
	struct edge_tree_function *f = &t->functions[function];
	bool any = false;

	for (unsigned v = 0; v < t->edges->column_count; v++)
		any |= f->value[v] != 0;
	if (any)
		return;
	for (uint32_t i = f->first; i != UINT32_MAX; i = t->next[i])
		for (unsigned v = 0; v < t->edges->column_count; v++)
			if (v != EDGE_CALLS)
				saturating_add(&f->value[v], t->edges->items[i].value[v]);
	f->value[EDGE_CALLS] = 1;
}

static void add_place(struct edge_tree_building *t, uint32_t parent, uint32_t function, const int64_t *value)
{
	uint32_t above = parent == UINT32_MAX ? PROFILE_ROOT : t->places[parent].node;
	struct edge_tree_place *p;

	GROW(&t->places, &t->capacity, t->count + 1);
	p = &t->places[t->count];
	*p = (struct edge_tree_place){ profile_child(t->profile, above, t->functions[function].frame), parent, function };
	memcpy(p->value, value, sizeof(p->value));
	t->nodes++;
	heap_push(t, (uint32_t)t->count++);
}

static int64_t part_of(int64_t v, int64_t part, int64_t whole)
{
	__int128 product = (__int128)v * part / whole;

	return product > INT64_MAX ? INT64_MAX : product < INT64_MIN ? INT64_MIN : (int64_t)product;
}

/* Computes the value of an edge's calls below the place being expanded, which `done` does not include yet. Each piece
 * is the cumulative share so far less the cumulative share before, so that all pieces add up to the edge. */
static void value_below(const struct edge_tree_building *t, const struct edge_tree_place *p, const struct edge *e, int64_t *ret)
{
	const struct edge_tree_function *f = &t->functions[p->function];

	for (unsigned v = 0; v < t->edges->column_count; v++) {
		unsigned by = t->edges->columns[v].divided_by_itself && f->value[v] > 0 && !f->uneven[v] ? v :
			EDGE_CALLS;
		int64_t whole = f->value[by], after = saturating_sum(f->done[by], p->value[by]);

		if (whole <= 0 || f->uneven[by])
			ret[v] = f->opened ? 0 : e->value[v];
		else
			ret[v] = saturating_sum(part_of(e->value[v], after < whole ? after : whole, whole),
						-part_of(e->value[v], f->done[by] < whole ? f->done[by] : whole,
							 whole));
	}
}

static bool is_above(const struct edge_tree_building *t, uint32_t place, uint32_t function)
{
	for (int i = 0; place != UINT32_MAX && i < CYCLE_LEVELS; i++, place = t->places[place].parent)
		if (t->places[place].function == function)
			return true;
	return false;
}

static void subtract(const struct edge_tree_building *t, int64_t *self, const int64_t *value)
{
	for (unsigned v = 0; v < t->edges->column_count; v++)
		if (v != EDGE_CALLS)
			self[v] = saturating_difference(self[v], value[v]);
}

static void put_folded(struct edge_tree_building *t, uint32_t node, const int64_t *value)
{
	if (edge_tree_is_zero(t, value))
		return;
	t->estimated = true;
	if (!t->edges->own)
		edge_tree_add_values(t, edge_tree_folded_child(t, node), value);
}

static const struct edge *all_callees(struct edge_tree_building *t, uint32_t function)
{
	struct edge_tree_function *f = &t->functions[function];

	if (f->callees)
		return f->callees;
	f->callees = xcalloc(1, sizeof(*f->callees));
	for (uint32_t i = f->first; i != UINT32_MAX; i = t->next[i])
		for (unsigned v = 0; v < t->edges->column_count; v++)
			saturating_add(&f->callees->value[v], t->edges->items[i].value[v]);
	return f->callees;
}

static void is_done(struct edge_tree_building *t, const struct edge_tree_place *p)
{
	struct edge_tree_function *f = &t->functions[p->function];

	for (unsigned v = 0; v < t->edges->column_count; v++)
		saturating_add(&f->done[v], p->value[v]);
	t->estimated |= f->opened && f->first != UINT32_MAX;
	f->opened = true;
}

/* Divides a place into its self value and the sum of its callees. */
static void close_place(struct edge_tree_building *t, uint32_t at)
{
	const struct edge_tree_place *p = &t->places[at];
	int64_t self[EDGE_LIST_COLUMNS], folded[EDGE_LIST_COLUMNS];

	memcpy(self, p->value, sizeof(self));
	value_below(t, p, all_callees(t, p->function), folded);
	subtract(t, self, folded);
	is_done(t, p);
	edge_tree_add_values(t, p->node, self);
	put_folded(t, p->node, folded);
}

/* Divides a place into its self value and its callees; those that may not be expanded are combined. */
static void open_place(struct edge_tree_building *t, uint32_t at)
{
	struct edge_tree_place p = t->places[at];		/* a copy: the array grows */
	struct edge_tree_function *f = &t->functions[p.function];
	int64_t self[EDGE_LIST_COLUMNS], folded[EDGE_LIST_COLUMNS] = { 0 };

	memcpy(self, p.value, sizeof(self));
	for (uint32_t i = f->first; i != UINT32_MAX; i = t->next[i], t->visits++) {
		const struct edge *e = &t->edges->items[i];
		int64_t value[EDGE_LIST_COLUMNS];

		value_below(t, &p, e, value);
		subtract(t, self, value);
		if (edge_tree_is_zero(t, value))
			continue;
		if (t->nodes < EDGE_LIST_NODES && !is_above(t, at, e->callee))
			add_place(t, at, e->callee, value);
		else
			for (unsigned v = 0; v < t->edges->column_count; v++)
				saturating_add(&folded[v], value[v]);
	}
	is_done(t, &p);
	edge_tree_add_values(t, p.node, self);
	put_folded(t, p.node, folded);
}

/* Marks all functions reachable from one, to find cycles without outside callers. */
static void mark(struct edge_tree_building *t, uint32_t function, uint32_t *stack)
{
	size_t n = 0;

	if (t->functions[function].reached)
		return;
	t->functions[function].reached = true;
	stack[n++] = function;
	while (n) {
		uint32_t i = t->functions[stack[--n]].first;

		for (; i != UINT32_MAX; i = t->next[i]) {
			struct edge_tree_function *callee = &t->functions[t->edges->items[i].callee];

			if (!callee->reached)
				stack[n++] = t->edges->items[i].callee;
			callee->reached = true;
		}
	}
}

static void add_top(struct edge_tree_building *t, uint32_t function, uint32_t *stack)
{
	add_missing_values(t, function);
	t->functions[function].is_top = true;
	add_place(t, UINT32_MAX, function, t->functions[function].value);
	mark(t, function, stack);
}

static uint32_t find_main(const struct edge_list *e)
{
	uint32_t name = intern_find(&e->strings, "main()", 6);

	return name == UINT32_MAX ? name : map_get(&e->by_name, map_pair(name, e->no_file));
}

static void add_tops(struct edge_tree_building *t)
{
	uint32_t count = (uint32_t)t->edges->function_count, main = find_main(t->edges);
	_cleanup_(freep) uint32_t *stack = xmalloc((count + 1) * sizeof(*stack));

	if (main != UINT32_MAX)
		add_top(t, main, stack);
	for (uint32_t f = 0; f < count; f++)
		if (f != main && !t->functions[f].is_callee)
			add_top(t, f, stack);
	for (uint32_t f = 0; f < count; f++)
		if (!t->functions[f].reached)
			add_top(t, f, stack);
}

static unsigned find_column(const struct edge_list *e, const char *name)
{
	for (unsigned v = 0; v < e->column_count; v++)
		if (e->set & 1u << v && !strcmp(e->columns[v].column, name))
			return v;
	return UINT_MAX;
}

static int add_columns(struct edge_tree_building *t)
{
	const struct edge_list *e = t->edges;
	uint32_t added = 0;

	for (unsigned v = 0; v < e->column_count; v++)
		added += e->set & 1u << v && profile_find_column(t->profile, e->columns[v].column) == UINT32_MAX;
	if (t->profile->column_count + added + 1 > PROFILE_COLUMNS + (e->own != NULL))
		return -E2BIG;
	t->off_cpu = UINT32_MAX;
	t->wall = find_column(e, "wall_ns");
	t->cpu = find_column(e, "cpu_ns");
	for (unsigned v = 0; v < e->column_count; v++) {
		if (e->set & 1u << v)
			t->columns[v] = profile_column(t->profile, e->columns[v].column, e->columns[v].unit);
		if (v == t->cpu && t->wall != UINT_MAX && !e->own)
			t->off_cpu = profile_column(t->profile, "off_cpu_ns", "nanoseconds");
	}
	return 0;
}

/* Returns the first measured value other than calls, or calls if there is no other. */
static unsigned pick_width(const struct edge_list *e)
{
	for (unsigned v = 1; v < e->column_count; v++)
		if (e->set & 1u << v && e->columns[v].divided_by_itself)
			return v;
	return EDGE_CALLS;
}

static void export_edges(const struct edge_tree_building *t, struct edge_tree *ret)
{
	size_t count = t->edges->function_count;

	ret->frames = xmalloc((count + 1) * sizeof(*ret->frames));
	ret->is_top = xcalloc(count + 1, sizeof(*ret->is_top));
	ret->has_off_cpu = t->off_cpu != UINT32_MAX;
	ret->estimated = t->estimated;
	for (size_t f = 0; f < count; f++) {
		ret->frames[f] = t->functions[f].frame;
		ret->is_top[f] = t->functions[f].is_top;
	}
}

int edge_tree_build(const struct edge_list *e, struct profile *p, struct edge_tree *ret)
{
	struct edge_tree_building t = { .edges = e, .profile = p, .folded = UINT32_MAX };

	assert(p->node_count == 1);
	if (add_columns(&t) < 0)
		return -E2BIG;
	t.width = pick_width(e);
	sum_up_functions(&t);
	add_tops(&t);
	while (t.heap_count && t.visits < VISITS_MAX)
		open_place(&t, heap_pop(&t));
	while (t.heap_count)
		close_place(&t, heap_pop(&t));
	if (e->own)
		edge_tree_share_own(&t);
	else if (e->set & 1u << EDGE_CALLS)
		edge_tree_share_calls(&t);
	export_edges(&t, ret);
	for (size_t i = 0; i < e->function_count; i++)
		free(t.functions[i].callees);
	free(t.functions);
	free(t.next);
	free(t.places);
	free(t.heap);
	return 0;
}
