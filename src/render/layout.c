/* layout.c: converts the tree to boxes.
 *
 * A day of a fleet has millions of nodes, a picture about ten thousand: nodes that are too narrow, except a limited
 * number of hidden boxes, are dropped before anything is sorted. A parent has a smaller number than its children, so
 * every pass here is a loop.
 */

#include "layout.h"

#include "mem.h"
#include "saturate.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

/* A node that becomes a box, with the keys of its order among its siblings. */
struct candidate {
	uint32_t node, parent;
	bool hidden;
	struct str name;
	uint32_t frame;
	unsigned char after;		/* the byte after the name in a line of folded stacks */
};

struct work {
	const struct profile *p;
	const int64_t *own;		/* by node: its width without its children */
	int64_t *totals;
	struct candidate *list;		/* siblings adjacent, sorted by name */
	size_t count, capacity;
	uint32_t *first;		/* by node: index of its first child in `list` + 1, 0 if no child is a box */
};

static int64_t own_value(const struct work *w, uint32_t node)
{
	int64_t own = w->own[node];

	return own > 0 ? own : 0;
}

static int64_t *totals_of(const struct work *w)
{
	const struct profile *p = w->p;
	int64_t *totals = xcalloc(p->node_count, sizeof(*totals));

	for (uint32_t i = 0; i < p->node_count; i++)
		totals[i] = own_value(w, i);
	for (uint32_t i = p->node_count - 1; i > 0; i--)
		saturating_add(&totals[p->parents[i]], totals[i]);
	return totals;
}

/* Sorts like lines of folded stacks, where a name is followed by the ; before its callee or by the space before its
 * count: flamegraph.pl sorts lines, and this gives the same pictures. */
static int by_name(const void *a, const void *b, void *profile)
{
	const struct candidate *x = a, *y = b;
	size_t n = x->name.n < y->name.n ? x->name.n : y->name.n;
	int order;

	if (x->hidden != y->hidden)
		return x->hidden ? 1 : -1;
	order = n ? memcmp(x->name.p, y->name.p, n) : 0;
	if (order)
		return order;
	if (x->name.n < y->name.n)
		return x->after <= (unsigned char)y->name.p[n] ? -1 : 1;
	if (x->name.n > y->name.n)
		return (unsigned char)x->name.p[n] < y->after ? -1 : 1;
	order = x->frame == y->frame ? 0 : profile_compare_frames(profile, x->frame, y->frame);
	return order ? order : x->node < y->node ? -1 : x->node > y->node;
}

/* Uses the same order of operations as flamegraph.pl: a frame of exactly that width must be treated the same. */
double layout_narrowest(int64_t total, const struct layout_limits *limits)
{
	if (limits->percent)
		return (double)total * limits->min_width / 100;
	return limits->min_width / (limits->width / (double)total);
}

static void count_narrow(const struct work *w, struct layout *l, uint32_t node, double min_value)
{
	uint32_t parent = w->p->parents[node];

	l->narrow++;
	if (parent == PROFILE_ROOT || (double)w->totals[parent] >= min_value)
		saturating_add(&l->narrow_value, w->totals[node]);
}

/* Returns the minimum value of a hidden box: the smallest power of two that leaves at most `hidden_max` nodes below
 * `min`. */
static int64_t least_hidden(const struct work *w, double min, size_t hidden_max)
{
	size_t nodes[64] = { 0 }, above = 0;	/* by the highest bit of their value */

	for (uint32_t i = 1; i < w->p->node_count; i++)
		if (w->totals[i] > 0 && (double)w->totals[i] < min)
			nodes[63 - __builtin_clzll((unsigned long long)w->totals[i])]++;
	for (int bit = 62; bit >= 0; bit--) {
		above += nodes[bit];
		if (above > hidden_max)
			return bit < 62 ? (int64_t)1 << (bit + 1) : INT64_MAX;
	}
	return 1;
}

/* Picks the nodes that become boxes, and counts those not drawn. Children are never wider, so a box is always on top
 * of a box. Memory indexed by node is only touched for boxes, so millions of narrow nodes cost no more than reading
 * their totals. */
static void select_nodes(struct work *w, struct layout *l, const struct layout_limits *limits)
{
	const struct profile *p = w->p;
	double min_value = layout_narrowest(l->total, limits);
	/* If the sum saturated, values cannot distinguish hidden boxes from drawn ones. */
	bool hides = limits->hidden_max && l->total < INT64_MAX;
	int64_t least = hides ? least_hidden(w, min_value, limits->hidden_max) : INT64_MAX;
	uint32_t *depths = xcalloc(p->node_count, sizeof(*depths));

	for (uint32_t i = 1; i < p->node_count; i++) {
		uint32_t parent = p->parents[i];
		bool narrow = (double)w->totals[i] < min_value;

		if (w->totals[i] == 0)
			continue;
		if (narrow)
			count_narrow(w, l, i, min_value);
		if (narrow && w->totals[i] < least) {
			l->beyond++;
			continue;
		}
		depths[i] = depths[parent] + 1;
		if (!narrow && depths[i] > l->depth_uncut)
			l->depth_uncut = depths[i];
		if (depths[i] > limits->depth_max) {
			l->deep += !narrow;
			l->beyond++;
			continue;
		}
		if (depths[i] > l->depth_boxes)
			l->depth_boxes = depths[i];
		l->drawn += !narrow;
		GROW(&w->list, &w->capacity, w->count + 1);
		w->list[w->count++] = (struct candidate){
			.node = i, .parent = parent, .hidden = narrow, .name = profile_name(p, p->node_frames[i]),
			.frame = p->node_frames[i], .after = own_value(w, i) ? ' ' : ';',
		};
	}
	free(depths);
}

/* Groups the children of each node, sorted by name. */
static void index_children(struct work *w)
{
	struct candidate *sorted = xcalloc(w->count, sizeof(*sorted));
	uint32_t end = 1;

	for (size_t i = 0; i < w->count; i++)
		w->first[w->list[i].parent]++;
	/* Stores the end of each node's children; filling it backwards turns it into the start. */
	for (size_t i = 0; i <= w->count; i++) {
		uint32_t *first = &w->first[i ? w->list[i - 1].node : PROFILE_ROOT];

		end += *first;
		*first = *first ? end : 0;
	}
	for (size_t i = w->count; i-- > 0;)
		sorted[--w->first[w->list[i].parent] - 1] = w->list[i];
	free(w->list);
	w->list = sorted;
	for (size_t from = 0, to = 0; from < w->count; from = to) {
		while (to < w->count && sorted[to].parent == sorted[from].parent)
			to++;
		if (to - from > 1)
			qsort_r(sorted + from, to - from, sizeof(*sorted), by_name, (void *)w->p);
	}
}

static int64_t at_most(int64_t v, int64_t most)
{
	return v < most ? v : most;
}

/* Places children next to each other, after their parent's self value: a stack's line sorts before those of its
 * callees. `next` is the child to place at each depth and `at` where it begins. If values are so large that their sum
 * saturated, the last ones have almost no room. */
static void place(struct work *w, struct layout *l)
{
	uint32_t *next = xcalloc(l->depth_boxes + 2, sizeof(*next));
	int64_t *at = xcalloc(l->depth_boxes + 2, sizeof(*at));
	uint32_t *node = xcalloc(l->depth_boxes + 2, sizeof(*node));
	uint32_t depth = 0;

	l->boxes[l->count++] = (struct layout_box){ PROFILE_ROOT, UINT32_MAX, 0, false, 0, l->total };
	at[0] = own_value(w, PROFILE_ROOT);
	next[0] = w->first[PROFILE_ROOT];
	for (;;) {
		int64_t start, value;
		const struct candidate *c = next[depth] && next[depth] <= w->count ? &w->list[next[depth] - 1] : NULL;

		if (!c || c->parent != node[depth]) {
			if (depth-- == 0)
				break;
			continue;
		}
		start = at_most(at[depth], l->total - 1);
		value = at_most(w->totals[c->node], l->total - start);
		l->boxes[l->count++] = (struct layout_box){ c->node, c->frame, depth + 1, c->hidden, start, value };
		next[depth]++;
		at[depth + 1] = start + at_most(own_value(w, c->node), value);
		at[depth] = start + value;
		depth++;
		node[depth] = c->node;
		next[depth] = w->first[c->node];
		if (!c->hidden && depth > l->depth)
			l->depth = depth;
	}
	free(node);
	free(at);
	free(next);
}

void layout_init(struct layout *l, const struct profile *p, uint32_t column, const struct layout_limits *limits)
{
	struct work w = { .p = p };

	assert(column == UINT32_MAX || column < p->column_count);
	*l = (struct layout){ 0 };
	if (column == UINT32_MAX)
		return;
	w.own = limits->widths ? limits->widths : p->columns[column].self;
	if (!limits->widths)
		l->negative_value = profile_below_zero(p, column, &l->negative);
	w.totals = totals_of(&w);
	l->total = w.totals[PROFILE_ROOT];
	if (l->total > 0) {
		l->total = limits->total > l->total ? limits->total : l->total;
		w.first = xcalloc(p->node_count, sizeof(*w.first));
		l->drawn = 1;
		select_nodes(&w, l, limits);
		index_children(&w);
		l->boxes = xcalloc(w.count + 1, sizeof(*l->boxes));
		place(&w, l);
		assert(l->count == w.count + 1);
	}
	free(w.first);
	free(w.list);
	free(w.totals);
}

void layout_done(struct layout *l)
{
	free(l->boxes);
	*l = (struct layout){ 0 };
}
