/* average_edges.c: the weighted average of edges. */

#include "average.h"

#include "edges.h"
#include "mem.h"

/* Values of `all`, by node and by pair. */
struct sums {
	wide_int (*nodes)[PROFILE_COLUMNS], (*pairs)[PROFILE_COLUMNS];
};

/* One of the profiles: its edges, and the indices of its frames and columns in `all`. */
struct part {
	const struct edges *edges;
	struct edges *made;		/* NULL if they are the profile's own */
	uint32_t *frames, columns[PROFILE_COLUMNS], column_count;
	int64_t factors[PROFILE_COLUMNS];
};

static void part_init(struct part *t, struct profile *all, const struct profile *p)
{
	static const struct edges_options options = { .column = UINT32_MAX };

	t->made = p->edges ? NULL : edges_of(p, &options);
	t->edges = t->made ? t->made : p->edges;
	t->frames = xmalloc(((size_t)p->frame_count + 1) * sizeof(*t->frames));
	for (uint32_t f = 0; f < p->frame_count; f++)
		t->frames[f] = profile_frame(all, profile_name(p, f), profile_file(p, f), p->frames[f].line);
	t->column_count = p->column_count;
	for (uint32_t c = 0; c < p->column_count; c++) {
		t->columns[c] = profile_find_column(all, p->columns[c].name);
		t->factors[c] = t->columns[c] == UINT32_MAX ? 0 : average_factor(all, t->columns[c], p, c);
	}
}

static void part_done(struct part *t)
{
	edges_free(t->made);
	free(t->frames);
}

static void add_values(wide_int *sums, const int64_t *values, const struct part *t, uint64_t weight)
{
	for (uint32_t c = 0; c < t->column_count; c++)
		if (t->columns[c] != UINT32_MAX)
			sums[t->columns[c]] += (wide_int)values[c] * t->factors[c] * (wide_int)weight;
}

static uint32_t node_in(struct edges *all, const struct part *t, uint32_t node)
{
	const struct edges_node *n = &t->edges->nodes[node];

	return node == EDGES_ROOT ? EDGES_ROOT : edges_node(all, t->frames[n->frame], n->level);
}

static void add_sums(struct sums *s, struct edges *all, const struct part *t, uint64_t weight)
{
	for (uint32_t n = 0; n < t->edges->node_count; n++)
		add_values(s->nodes[node_in(all, t, n)], t->edges->nodes[n].self, t, weight);
	for (uint32_t i = 0; i < t->edges->pair_count; i++) {
		const struct edges_pair *p = &t->edges->pairs[i];
		uint32_t pair = edges_pair(all, node_in(all, t, p->caller), node_in(all, t, p->callee));

		add_values(s->pairs[pair], p->value, t, weight);
	}
}

/* Rounding errors are carried over to the next node, as in the tree. */
static void divide(struct profile *all, const struct sums *s, uint32_t column, wide_int by)
{
	wide_int sum = 0, given = 0;

	for (uint32_t n = 0; n < all->edges->node_count; n++) {
		wide_int share;

		sum += s->nodes[n][column];
		if (!s->nodes[n][column])
			continue;
		share = average_divide(sum, by) - given;
		given += share;
		all->edges->nodes[n].self[column] = (int64_t)share;
	}
	for (uint32_t i = 0; i < all->edges->pair_count; i++)
		all->edges->pairs[i].value[column] = (int64_t)average_divide(s->pairs[i][column], by);
}

/* Adds all nodes and pairs first, so that their number is known, then their sums. */
static void average(struct profile *all, struct part *parts, const uint64_t *weights, size_t count, wide_int by)
{
	struct sums s;

	all->edges = edges_new();
	for (size_t i = 0; i < count; i++) {
		const struct edges_places to = { .columns = parts[i].columns, .frames = parts[i].frames };

		edges_add(all->edges, parts[i].edges, &to);
	}
	s.nodes = xcalloc(all->edges->node_count, sizeof(*s.nodes));
	s.pairs = xcalloc((size_t)all->edges->pair_count + 1, sizeof(*s.pairs));
	for (size_t i = 0; i < count; i++)
		add_sums(&s, all->edges, &parts[i], weights[i]);
	for (uint32_t c = 0; c < all->column_count && by; c++)
		divide(all, &s, c, by);
	free(s.nodes);
	free(s.pairs);
}

void average_edges(struct profile *all, const struct profile *const *profiles, const uint64_t *weights, size_t count,
		   wide_int by)
{
	struct part *parts;
	bool any = false, lost = false;

	for (size_t i = 0; i < count; i++) {
		any |= profiles[i]->edges != NULL;
		lost |= profiles[i]->estimated && !profiles[i]->edges;
		all->estimated |= profiles[i]->estimated;
	}
	if (!any || lost)
		return;
	parts = xcalloc(count, sizeof(*parts));
	for (size_t i = 0; i < count; i++)
		part_init(&parts[i], all, profiles[i]);
	average(all, parts, weights, count, by);
	for (size_t i = 0; i < count; i++)
		part_done(&parts[i]);
	free(parts);
}
