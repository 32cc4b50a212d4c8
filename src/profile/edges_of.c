/* edges_of.c: the edges of any profile, with functions as fine-grained as the caller wants.
 *
 * For a tree, one walk determines the function and level of each node, then each column is added up. */
#include "edges.h"
#include "mem.h"
#include "saturate.h"
#include "walk.h"
#include <assert.h>
#include <string.h>

struct conversion {
	const struct profile *profile;
	const struct edges_options *options;
	struct edges *edges;
	uint32_t *identities;	/* by frame: the first frame that is the same function */
	bool *is_root;		/* by frame: whether it has the root's name; NULL if the root has no name */
};

static uint32_t *find_identities(const struct profile *p, enum edges_identity by)
{
	uint32_t *identities = xmalloc(((size_t)p->frame_count + 1) * sizeof(*identities));
	struct map known;

	map_init(&known);
	for (uint32_t f = 0; f < p->frame_count; f++) {
		uint32_t file = by == EDGES_BY_NAME ? 0 : p->frames[f].file, *slot;

		identities[f] = f;
		if (by == EDGES_BY_FRAME)
			continue;
		slot = map_slot(&known, map_pair(p->frames[f].name, file));
		if (*slot == MAP_NONE)
			*slot = f;
		identities[f] = *slot;
	}
	map_done(&known);
	return identities;
}

static bool *find_root(const struct profile *p, const char *root)
{
	bool *is = root ? xcalloc((size_t)p->frame_count + 1, sizeof(*is)) : NULL;

	for (uint32_t f = 0; root && f < p->frame_count; f++) {
		struct str name = profile_name(p, f);

		is[f] = name.n == strlen(root) && !memcmp(name.p, root, name.n);
	}
	return is;
}

static bool is_wanted(const struct conversion *c, uint32_t column)
{
	return c->options->column == UINT32_MAX || c->options->column == column ||
	       c->profile->columns[column].counts_calls;
}

/* --- From a tree --- */

struct places {
	uint32_t *node, *pair;		/* by node of the tree */
};

static void walk_tree(struct conversion *c, struct places *to)
{
	const struct profile *p = c->profile;
	_cleanup_(freep) uint32_t *active = xcalloc((size_t)p->frame_count + 1, sizeof(*active));
	_cleanup_(walk_done) struct walk w = { 0 };

	for (uint32_t f = 0; c->is_root && f < p->frame_count; f++)
		active[c->identities[f]] |= c->is_root[f];
	to->node[PROFILE_ROOT] = EDGES_ROOT;
	walk_init(&w, p);
	while (walk_next(&w)) {
		uint32_t frame = c->identities[p->node_frames[w.node]];

		if (w.leaving) {
			assert(active[frame] > 0);
			active[frame]--;
			continue;
		}
		to->node[w.node] = edges_node(c->edges, frame, active[frame]++);
		to->pair[w.node] = edges_pair(c->edges, to->node[p->parents[w.node]], to->node[w.node]);
		c->edges->pairs[to->pair[w.node]].stacks++;
	}
}

static void add_column(struct conversion *c, uint32_t column, const struct places *to)
{
	const struct profile *p = c->profile;
	bool inclusive = !p->columns[column].counts_calls;
	_cleanup_(freep) int64_t *total = xmalloc(p->node_count * sizeof(*total));

	memcpy(total, p->columns[column].self, p->node_count * sizeof(*total));
	for (uint32_t n = 0; n < p->node_count; n++) {
		if (c->options->above_zero && total[n] < 0)
			total[n] = 0;
		saturating_add(&c->edges->nodes[to->node[n]].self[column], total[n]);
	}
	for (uint32_t n = p->node_count - 1; n > 0; n--) {
		assert(p->parents[n] < n);
		if (inclusive)
			saturating_add(&total[p->parents[n]], total[n]);
		saturating_add(&c->edges->pairs[to->pair[n]].value[column], total[n]);
	}
}

static void add_tree(struct conversion *c)
{
	const struct profile *p = c->profile;
	_cleanup_(freep) uint32_t *node = xmalloc(p->node_count * sizeof(*node));
	_cleanup_(freep) uint32_t *pair = xmalloc(p->node_count * sizeof(*pair));
	struct places to = { node, pair };

	walk_tree(c, &to);
	for (uint32_t column = 0; column < p->column_count; column++)
		if (is_wanted(c, column))
			add_column(c, column, &to);
	if (c->options->ret_nodes)
		memcpy(c->options->ret_nodes, node, p->node_count * sizeof(*node));
	if (c->options->ret_pairs)
		memcpy(c->options->ret_pairs + 1, pair + 1, (p->node_count - 1) * sizeof(*pair));
}

/* --- From edges --- */

static void cut_below_zero(struct edges *e)
{
	for (uint32_t n = 0; n < e->node_count; n++)
		for (uint32_t k = 0; k < PROFILE_COLUMNS; k++)
			e->nodes[n].self[k] = e->nodes[n].self[k] < 0 ? 0 : e->nodes[n].self[k];
	for (uint32_t i = 0; i < e->pair_count; i++)
		for (uint32_t k = 0; k < PROFILE_COLUMNS; k++)
			e->pairs[i].value[k] = e->pairs[i].value[k] < 0 ? 0 : e->pairs[i].value[k];
}

static void add_edges(struct conversion *c)
{
	uint32_t columns[PROFILE_COLUMNS];
	struct edges_places to = { .columns = columns, .frames = c->identities,
				   .column_count = c->profile->column_count };
	struct edges *e = c->edges;

	for (uint32_t k = 0; k < to.column_count; k++)
		columns[k] = is_wanted(c, k) ? k : UINT32_MAX;
	edges_add(e, c->profile->edges, &to);
	for (uint32_t n = 1; n < e->node_count && c->is_root; n++)
		e->nodes[n].level += c->is_root[e->nodes[n].frame];
	if (c->options->above_zero)
		cut_below_zero(e);
}

struct edges *edges_of(const struct profile *p, const struct edges_options *o)
{
	_cleanup_(freep) uint32_t *identities = find_identities(p, o->by);
	_cleanup_(freep) bool *is_root = find_root(p, o->root);
	struct conversion c = { p, o, edges_new(), identities, is_root };

	assert(!p->edges || (!o->ret_nodes && !o->ret_pairs));		/* these are only for trees */
	if (p->edges)
		add_edges(&c);
	else
		add_tree(&c);
	return c.edges;
}
