/* edge_profile.c: builds both forms of a call graph: the tree, with levels removed from names, and the edges. */
#include "edge_list_private.h"
#include "edges.h"
#include "mem.h"
#include "saturate.h"
#include <string.h>

struct making {
	const struct edge_list *list;
	const struct edge_list_meaning *meaning;
	const struct profile *tree;	/* has levels in the names */
	struct profile *profile;
	struct edge_tree facts;
	uint32_t columns[PROFILE_COLUMNS];	/* columns of the profile by those of the tree */
	uint32_t of_value[EDGE_LIST_COLUMNS];	/* columns of the profile by value; UINT32_MAX: not measured */
	uint32_t wall, cpu, off_cpu, calls;	/* columns of the profile */
	uint32_t *frames, *levels;	/* by frame of the tree: frame of the profile, and level */
	uint32_t *nodes;		/* nodes of the edges by function */
	int64_t (*in)[EDGE_LIST_COLUMNS], (*out)[EDGE_LIST_COLUMNS];	/* by function */
	bool *entered;			/* by function: whether it has an entry without a caller */
};

/* Splits the level from a name: 7 in foo@7. */
static uint32_t split_level(const struct edge_list_meaning *m, struct str *name)
{
	uint64_t level = 0;
	size_t n = name->n;

	while (n && name->p[n - 1] >= '0' && name->p[n - 1] <= '9')
		n--;
	if (n < 2 || n == name->n || name->p[n - 1] != m->level_mark)
		return 0;
	for (size_t i = n; i < name->n && level < UINT32_MAX; i++)
		level = level * 10 + (uint64_t)(name->p[i] - '0');
	level = level < UINT32_MAX ? level : UINT32_MAX;
	name->n = n - 1;
	return level > m->level_base ? (uint32_t)level - m->level_base : 0;
}

/* Functions of one file share its name; each name is examined once. */
static void make_frames(struct making *m)
{
	_cleanup_(freep) uint32_t *names = profile_string_ids(m->tree), *files = profile_string_ids(m->tree);
	_cleanup_(freep) uint32_t *levels = xcalloc(m->tree->strings.count + 1, sizeof(*levels));

	for (uint32_t f = 0; f < m->tree->frame_count; f++) {
		const struct profile_frame *frame = &m->tree->frames[f];

		if (names[frame->name] == UINT32_MAX) {
			struct str name = intern_get(&m->tree->strings, frame->name);

			levels[frame->name] = split_level(m->meaning, &name);
			names[frame->name] = intern_add(&m->profile->strings, name.p, name.n);
		}
		m->levels[f] = levels[frame->name];
		m->frames[f] = profile_frame_of(m->profile, names[frame->name],
						profile_copy_string(m->profile, m->tree, frame->file, files),
						frame->line);
	}
}

static int make_columns(struct making *m)
{
	struct profile *p = m->profile;
	const struct profile *tree = m->tree;

	if (!profile_columns_fit(p, tree))
		return -E2BIG;
	for (uint32_t c = 0; c < tree->column_count; c++)
		if (!m->meaning->calls_last || strcmp(tree->columns[c].name, "calls"))
			profile_column(p, tree->columns[c].name, tree->columns[c].unit);
	for (uint32_t c = 0; c < tree->column_count; c++)
		m->columns[c] = profile_column(p, tree->columns[c].name, tree->columns[c].unit);
	for (unsigned v = 0; v < m->list->column_count; v++)
		m->of_value[v] = m->list->set & 1u << v ? profile_find_column(p, m->list->columns[v].column) :
							  UINT32_MAX;
	m->wall = profile_find_column(p, "wall_ns");
	m->cpu = profile_find_column(p, "cpu_ns");
	m->off_cpu = m->facts.has_off_cpu ? profile_find_column(p, "off_cpu_ns") : UINT32_MAX;
	m->calls = m->meaning->calls_of_root ? UINT32_MAX : profile_find_column(p, "calls");
	return 0;
}

static bool has_name(const struct profile *p, uint32_t frame, const char *name)
{
	struct str s = profile_name(p, frame);

	return name && s.n == strlen(name) && !memcmp(s.p, name, s.n);
}

static void add_tree(struct making *m)
{
	const struct profile *tree = m->tree;
	_cleanup_(freep) uint32_t *nodes = xmalloc(tree->node_count * sizeof(*nodes));

	nodes[PROFILE_ROOT] = PROFILE_ROOT;
	for (uint32_t n = 1; n < tree->node_count; n++) {
		uint32_t frame = tree->node_frames[n];
		bool root = tree->parents[n] == PROFILE_ROOT && has_name(tree, frame, m->meaning->root);

		nodes[n] = root ? PROFILE_ROOT : profile_child(m->profile, nodes[tree->parents[n]], m->frames[frame]);
		for (uint32_t c = 0; c < tree->column_count; c++)
			if (!root || m->columns[c] != m->calls)
				profile_add(m->profile, nodes[n], m->columns[c], tree->columns[c].self[n]);
	}
}

/* --- Edges --- */

/* Adds the values read to the profile's columns. */
static void add_values(const struct making *m, int64_t *sums, const int64_t *value)
{
	int64_t off;

	for (unsigned v = 0; v < m->list->column_count; v++)
		if (m->of_value[v] != UINT32_MAX)
			saturating_add(&sums[m->of_value[v]], value[v]);
	if (m->off_cpu != UINT32_MAX && !__builtin_sub_overflow(sums[m->wall], sums[m->cpu], &off))
		sums[m->off_cpu] = off;
}

static void make_nodes(struct making *m)
{
	for (size_t f = 0; f < m->list->function_count; f++) {
		uint32_t frame = m->facts.frames[f];

		m->nodes[f] = m->facts.is_top[f] && has_name(m->tree, frame, m->meaning->root) ?
			EDGES_ROOT : edges_node(m->profile->edges, m->frames[frame], m->levels[frame]);
	}
}

static void add_pair(struct making *m, uint32_t caller, uint32_t callee, const int64_t *value)
{
	struct edges *e = m->profile->edges;
	uint32_t pair;

	if (callee == EDGES_ROOT)
		return;
	pair = edges_pair(e, caller, callee);
	add_values(m, e->pairs[pair].value, value);
}

static void add_pairs(struct making *m)
{
	for (size_t i = 0; i < m->list->count; i++) {
		const struct edge *pair = &m->list->items[i];

		for (unsigned v = 0; v < m->list->column_count; v++) {
			saturating_add(&m->in[pair->callee][v], pair->value[v]);
			if (pair->caller != UINT32_MAX)
				saturating_add(&m->out[pair->caller][v], pair->value[v]);
		}
		m->entered[pair->callee] |= pair->caller == UINT32_MAX;
		add_pair(m, pair->caller == UINT32_MAX ? EDGES_ROOT : m->nodes[pair->caller], m->nodes[pair->callee],
			 pair->value);
	}
}

/* A top-level function without an entry was called once, and its value is the sum of its callees. */
static void add_missing(struct making *m, size_t function)
{
	int64_t missing[EDGE_LIST_COLUMNS] = { 1 };

	for (unsigned v = EDGE_CALLS + 1; v < m->list->column_count; v++)
		if (__builtin_sub_overflow(m->out[function][v], m->in[function][v], &missing[v]) || missing[v] < 0)
			missing[v] = 0;
	for (unsigned v = 0; v < m->list->column_count; v++)
		saturating_add(&m->in[function][v], missing[v]);
	add_pair(m, EDGES_ROOT, m->nodes[function], missing);
}

/* Adds the self value that was measured, or else the total less the callees. */
static void add_self(struct making *m, size_t function)
{
	uint32_t node = m->nodes[function];
	int64_t self[EDGE_LIST_COLUMNS] = { 0 };

	for (unsigned v = 0; v < m->list->column_count; v++)
		if (m->list->own)
			self[v] = function < m->list->own_count ? m->list->own[function][v] : 0;
		else if (v == EDGE_CALLS)
			self[v] = m->in[function][v];
		else
			self[v] = saturating_difference(m->in[function][v], m->out[function][v]);
	if (node == EDGES_ROOT && m->calls != UINT32_MAX)
		self[EDGE_CALLS] = 0;
	add_values(m, m->profile->edges->nodes[node].self, self);
}

/* With levels, no function's total exceeds the overall total, except by rounding. */
static bool values_have_levels(const struct making *m)
{
	const struct edges *e = m->profile->edges;
	_cleanup_(freep) int64_t *in = xcalloc(e->node_count, sizeof(*in));
	uint32_t column = profile_pick_column(m->profile, NULL);
	int64_t whole = 0;

	for (uint32_t i = 0; i < e->pair_count; i++) {
		const struct edges_pair *pair = &e->pairs[i];

		if (pair->caller == pair->callee)
			return false;
		saturating_add(&in[pair->callee], pair->value[column]);
		if (pair->caller == EDGES_ROOT)
			saturating_add(&whole, pair->value[column]);
	}
	for (uint32_t n = 1; n < e->node_count && column != m->calls; n++)
		if (in[n] > saturating_sum(whole, whole / 8))
			return false;
	return true;
}

/* If a function has a deeper level, none of its calls at the outermost level is within another one. */
static void keep_outermost(struct making *m)
{
	_cleanup_(freep) bool *has_levels = xcalloc((size_t)m->profile->frame_count + 1, sizeof(*has_levels));
	struct edges *e = m->profile->edges;

	for (size_t f = 0; f < m->list->function_count; f++)
		if (m->nodes[f] != EDGES_ROOT && e->nodes[m->nodes[f]].level)
			has_levels[e->nodes[m->nodes[f]].frame] = true;
	for (size_t f = 0; f < m->list->function_count; f++) {
		const struct edges_node *n = &e->nodes[m->nodes[f]];

		if (m->nodes[f] != EDGES_ROOT && (n->level || !has_levels[n->frame]))
			edges_not_once(e, m->nodes[f]);
	}
}

static void make_edges(struct making *m)
{
	struct edges *e = m->profile->edges;
	size_t count = m->list->function_count + 1;
	_cleanup_(freep) uint32_t *nodes = xmalloc(count * sizeof(*nodes));
	_cleanup_(freep) bool *entered = xcalloc(count, sizeof(*entered));
	_cleanup_(freep) int64_t (*in)[EDGE_LIST_COLUMNS] = xcalloc(count, sizeof(*in));
	_cleanup_(freep) int64_t (*out)[EDGE_LIST_COLUMNS] = xcalloc(count, sizeof(*out));

	m->nodes = nodes;
	m->entered = entered;
	m->in = in;
	m->out = out;
	make_nodes(m);
	add_pairs(m);
	for (size_t f = 0; f < m->list->function_count; f++) {
		if (m->facts.is_top[f] && !entered[f] && !m->list->own)
			add_missing(m, f);
		add_self(m, f);
	}
	if (m->meaning->levels == EDGE_LEVELS_OUTERMOST)
		keep_outermost(m);
	else if (m->meaning->levels == EDGE_LEVELS_NONE || !values_have_levels(m))
		for (uint32_t n = 1; n < e->node_count; n++)
			edges_not_once(e, n);
	m->profile->estimated = true;
}

int edge_list_to_profile(const struct edge_list *e, const struct edge_list_meaning *meaning, struct profile *p)
{
	static const struct edges_options all = { .column = UINT32_MAX };
	struct making m = { .list = e, .meaning = meaning, .profile = p };
	_cleanup_(profile_freep) struct profile *tree = profile_new();
	int r = edge_tree_build(e, tree, &m.facts);

	if (r < 0)
		return r;
	m.tree = tree;
	m.frames = xmalloc(((size_t)tree->frame_count + 1) * sizeof(*m.frames));
	m.levels = xmalloc(((size_t)tree->frame_count + 1) * sizeof(*m.levels));
	r = make_columns(&m);
	if (r >= 0) {
		if (m.facts.estimated && !p->edges)
			p->edges = edges_of(p, &all);
		make_frames(&m);
		add_tree(&m);
		if (m.facts.estimated)
			make_edges(&m);
	}
	free(m.frames);
	free(m.levels);
	free(m.facts.frames);
	free(m.facts.is_top);
	return r;
}
