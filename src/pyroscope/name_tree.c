/* name_tree.c: nodes of a profile are mapped to nodes by name, parents before children, and sorted at the end. */
#include "name_tree.h"

#include "mem.h"
#include "saturate.h"
#include "text.h"

#include <assert.h>
#include <string.h>

#define NAMELESS "[unknown]"		/* an empty one would be read as the root's */

/* --- Names --- */

static uint32_t add_name(struct name_tree *t, struct str s, struct buf *safe)
{
	if (text_is(s, PROFILE_PRUNED))
		return intern_add(&t->names, NAME_TREE_OTHER, strlen(NAME_TREE_OTHER));
	buf_reset(safe);
	text_put_utf8(safe, s);
	return safe->size ? intern_add(&t->names, safe->data, safe->size) : intern_add(&t->names, NAMELESS, strlen(NAMELESS));
}

/* The name of each frame; the caller frees. */
static uint32_t *names_of_frames(struct name_tree *t, const struct profile *p)
{
	uint32_t *names = xmalloc((p->frame_count + 1) * sizeof(*names));
	struct buf safe;

	buf_init(&safe);
	for (uint32_t i = 0; i < p->frame_count; i++)
		names[i] = add_name(t, profile_name(p, i), &safe);
	buf_done(&safe);
	return names;
}

/* --- Nodes --- */

/* Nodes by parent and name, while the tree grows. */
struct growing {
	struct name_tree *tree;
	const struct profile *profile;
	uint32_t *names;		/* by frame */
	uint32_t *places;		/* by node of the profile: its node here, or OUTSIDE */
	uint32_t *depths;		/* by node: how much of the call site it and those above it are */
	uint32_t *firsts;		/* by node here: its first child, 0 if there is none; most have one child, and need no map */
	struct map children;		/* the others */
};

#define OUTSIDE UINT32_MAX

static uint32_t child_of(struct growing *g, uint32_t parent, uint32_t name)
{
	struct name_tree *t = g->tree;
	uint32_t first = g->firsts[parent], *slot = &g->firsts[parent];

	assert(parent < t->count);
	if (first && t->nodes[first].name == name)
		return first;
	if (first)
		slot = map_slot(&g->children, map_pair(parent, name));
	if (first && *slot != MAP_NONE)
		return *slot;
	*slot = t->count;
	t->nodes[t->count] = (struct name_node){ .name = name, .next = t->nodes[parent].child };
	t->nodes[parent].child = t->count;
	return t->count++;
}

/* Below the call site everything is inside; above it only those that lead there. */
static bool is_inside(struct growing *g, uint32_t node, uint32_t name, const char *const *call_site, size_t depth)
{
	uint32_t parent = g->profile->parents[node];
	struct str s;

	if (g->places[parent] == OUTSIDE)
		return false;
	g->depths[node] = g->depths[parent];
	if (g->depths[parent] == depth)
		return true;
	s = intern_get(&g->tree->names, name);
	g->depths[node]++;
	return text_is(s, call_site[g->depths[parent]]);
}

/* Adds the value of a node; memory that was freed is none that is held. */
static void add_value(struct growing *g, uint32_t node, int64_t value, size_t depth)
{
	if (value > 0 && g->depths[node] == depth)
		saturating_add(&g->tree->nodes[g->places[node]].self, value);
}

static void grow(struct growing *g, uint32_t column, const char *const *call_site, size_t depth)
{
	const struct profile *p = g->profile;
	const int64_t *self = p->columns[column].self;

	g->places[PROFILE_ROOT] = NAME_TREE_ROOT;
	g->depths[PROFILE_ROOT] = 0;
	for (uint32_t i = 1; i < p->node_count; i++) {
		uint32_t name = g->names[p->node_frames[i]];

		g->places[i] = OUTSIDE;
		if (!is_inside(g, i, name, call_site, depth))
			continue;
		g->places[i] = child_of(g, g->places[p->parents[i]], name);
		add_value(g, i, self[i], depth);
	}
}

/* --- Totals and order --- */

/* A child has a larger number than its parent. */
static void add_totals(struct name_tree *t)
{
	for (uint32_t i = t->count; i-- > 0;) {
		struct name_node *n = &t->nodes[i];

		n->total = n->self;
		for (uint32_t c = n->child; c; c = t->nodes[c].next)
			saturating_add(&n->total, t->nodes[c].total);
	}
}

static int compare_names(const void *a, const void *b, void *data)
{
	const struct name_tree *t = data;
	struct str x = intern_get(&t->names, t->nodes[*(const uint32_t *)a].name);
	struct str y = intern_get(&t->names, t->nodes[*(const uint32_t *)b].name);
	int order = memcmp(x.p, y.p, x.n < y.n ? x.n : y.n);

	return order ? order : x.n < y.n ? -1 : x.n > y.n;
}

/* Sorts the children of each node, and drops those without a value: clients would place them below a neighbour. */
static void sort_children(struct name_tree *t)
{
	_cleanup_(freep) uint32_t *list = xmalloc(t->count * sizeof(*list));

	for (uint32_t i = 0; i < t->count; i++) {
		uint32_t n = 0;

		for (uint32_t c = t->nodes[i].child; c; c = t->nodes[c].next)
			if (t->nodes[c].total > 0)
				list[n++] = c;
		qsort_r(list, n, sizeof(*list), compare_names, t);
		t->nodes[i].child = n ? list[0] : 0;
		for (uint32_t k = 0; k < n; k++)
			t->nodes[list[k]].next = k + 1 < n ? list[k + 1] : 0;
	}
}

void name_tree_init(struct name_tree *t, const struct profile *p, uint32_t column, const char *const *call_site, size_t depth)
{
	struct growing g = { .tree = t, .profile = p };

	memset(t, 0, sizeof(*t));
	intern_init(&t->names);
	intern_add(&t->names, "total", 5);
	t->nodes = xcalloc(p ? p->node_count : 1, sizeof(*t->nodes));
	t->count = 1;
	if (!p || column == UINT32_MAX)
		return;
	g.names = names_of_frames(t, p);
	g.places = xmalloc(p->node_count * sizeof(*g.places));
	g.depths = xmalloc(p->node_count * sizeof(*g.depths));
	g.firsts = xcalloc(p->node_count, sizeof(*g.firsts));
	map_init(&g.children);
	grow(&g, column, call_site, depth);
	map_done(&g.children);
	free(g.names);
	free(g.places);
	free(g.depths);
	free(g.firsts);
	add_totals(t);
	sort_children(t);
}

void name_tree_done(struct name_tree *t)
{
	intern_done(&t->names);
	free(t->nodes);
	memset(t, 0, sizeof(*t));
}

/* Orders the part of the list that holds the wanted place until it stands there; nobody needs the rest in order. */
static int64_t nth_largest(int64_t *list, size_t count, size_t n)
{
	size_t from = 0, to = count - 1;

	assert(n < count);
	while (from < to) {
		int64_t pivot = list[from + (to - from) / 2];
		size_t i = from, k = to;

		while (i <= k) {
			while (list[i] > pivot)
				i++;
			while (list[k] < pivot)
				k--;
			if (i <= k) {
				int64_t swap = list[i];

				list[i++] = list[k];
				list[k] = swap;
				if (!k--)
					break;
			}
		}
		if (k != SIZE_MAX && n <= k)
			to = k;
		else if (n >= i)
			from = i;
		else
			return list[n];
	}
	return list[n];
}

int64_t name_tree_least_of(int64_t *totals, size_t count, uint32_t most)
{
	return count <= most ? 0 : nth_largest(totals, count, most - 1);
}

int64_t name_tree_least(const struct name_tree *t, uint32_t most)
{
	_cleanup_(freep) int64_t *totals = xmalloc(t->count * sizeof(*totals));

	for (uint32_t i = 0; i < t->count; i++)
		totals[i] = t->nodes[i].total;
	return name_tree_least_of(totals, t->count, most);
}

/* --- Pyroscope's form --- */

static void put_node(const char *name, size_t size, int64_t self, uint64_t children, struct buf *out)
{
	buf_put_varint(out, size);
	buf_put(out, name, size);
	buf_put_varint(out, (uint64_t)self);
	buf_put_varint(out, children);
}

static bool is_shown(const struct name_tree *t, uint32_t node, int64_t least)
{
	return t->nodes[node].total >= least && !text_is(intern_get(&t->names, t->nodes[node].name), NAME_TREE_OTHER);
}

void name_tree_put(const struct name_tree *t, uint32_t most, struct buf *out)
{
	_cleanup_(freep) uint32_t *waiting = xmalloc(t->count * sizeof(*waiting));
	int64_t least = name_tree_least(t, most);
	uint32_t count = 0;

	waiting[count++] = NAME_TREE_ROOT;
	while (count) {
		const struct name_node *n = &t->nodes[waiting[--count]];
		struct str name = intern_get(&t->names, n->name);
		int64_t other = 0;
		uint64_t children = 0;

		for (uint32_t c = n->child; c; c = t->nodes[c].next) {
			if (is_shown(t, c, least)) {
				waiting[count++] = c;
				children++;
			} else {
				saturating_add(&other, t->nodes[c].total);
			}
		}
		put_node(name.p, n == t->nodes ? 0 : name.n, n->self, children + (other > 0), out);
		if (other)
			put_node(NAME_TREE_OTHER, strlen(NAME_TREE_OTHER), other, 0, out);
	}
}
