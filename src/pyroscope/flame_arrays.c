/* flame_arrays.c: visits nodes from right to left, as Pyroscope does, so that names get the same numbers, then
 * reverses each array. */
#include "flame_arrays.h"

#include "mem.h"
#include "messages.h"
#include "protobuf.h"
#include "saturate.h"
#include "text.h"

#include <assert.h>
#include <string.h>

/* A node of one or both trees that still has to be placed. */
struct pending {
	uint32_t node[2];		/* 0: missing from this tree, or the node is `other` */
	uint32_t level;
	struct str name;
	int64_t x[2], self[2], total[2];
};

struct placing {
	struct flame_arrays *f;
	const struct name_tree *trees[2];
	struct pending *waiting;
	size_t count, capacity;
	int64_t least;
};

static const struct name_node *node_of(const struct placing *p, unsigned side, uint32_t node)
{
	return &p->trees[side]->nodes[node];
}

static struct str name_of(const struct placing *p, unsigned side, uint32_t node)
{
	return intern_get(&p->trees[side]->names, node_of(p, side, node)->name);
}

/* --- One node --- */

/* Appends a node to the array of its level; x is still absolute, not a distance. */
static void place(struct placing *p, const struct pending *n)
{
	struct flame_arrays *f = p->f;
	struct flame_level *l;
	size_t had = f->level_count;

	assert(n->level <= had);
	if (n->level == had) {
		f->levels = xrealloc(f->levels, (had + 1) * sizeof(*f->levels));
		f->levels[f->level_count++] = (struct flame_level){ 0 };
	}
	l = &f->levels[n->level];
	GROW(&l->values, &l->capacity, l->count + 3 * f->sides + 1);
	for (unsigned s = 0; s < f->sides; s++) {
		l->values[l->count++] = n->x[s];
		l->values[l->count++] = n->total[s];
		l->values[l->count++] = n->self[s];
		if (n->self[s] > f->max_self)
			f->max_self = n->self[s];
	}
	l->values[l->count++] = intern_add(&f->names, n->name.p, n->name.n);
}

static void push(struct placing *p, const struct pending *n)
{
	GROW(&p->waiting, &p->capacity, p->count + 1);
	p->waiting[p->count++] = *n;
}

/* --- Children --- */

static void set_side(struct placing *p, struct pending *n, unsigned side, uint32_t node)
{
	n->node[side] = node;
	n->self[side] = node_of(p, side, node)->self;
	n->total[side] = node_of(p, side, node)->total;
	n->name = name_of(p, side, node);
}

/* Takes the next child by name from either tree and advances `at`; false at the end. */
static bool next_child(struct placing *p, uint32_t at[2], struct pending *ret)
{
	uint32_t take[2];

	*ret = (struct pending){ 0 };
	if (!name_tree_next_pair(p->trees, at, take))
		return false;
	for (unsigned s = 0; s < 2; s++)
		if (take[s])
			set_side(p, ret, s, take[s]);
	return true;
}

static bool is_shown(const struct placing *p, const struct pending *n)
{
	return (n->total[0] >= p->least || n->total[1] >= p->least) && !text_is(n->name, NAME_TREE_OTHER);
}

static void push_children(struct placing *p, const struct pending *n)
{
	struct pending child, other = { .level = n->level + 1, .name = { NAME_TREE_OTHER, strlen(NAME_TREE_OTHER) } };
	uint32_t at[2] = { 0 };
	int64_t x[2];

	for (unsigned s = 0; s < 2; s++) {
		x[s] = saturating_sum(n->x[s], n->self[s]);
		if (p->trees[s] && (n->node[s] || !n->level))
			at[s] = node_of(p, s, n->node[s])->child;
	}
	while (next_child(p, at, &child)) {
		bool shown = is_shown(p, &child);

		child.level = n->level + 1;
		for (unsigned s = 0; s < 2; s++) {
			child.x[s] = x[s];
			saturating_add(shown ? &x[s] : &other.total[s], child.total[s]);
		}
		if (shown)
			push(p, &child);
	}
	for (unsigned s = 0; s < 2; s++) {
		other.x[s] = x[s];
		other.self[s] = other.total[s];
	}
	if (other.total[0] || other.total[1])
		push(p, &other);
}

/* --- Top level --- */

/* Reverses a level to left to right, and turns each x into the distance from the end of its left neighbor. */
static void turn_over(struct flame_level *l, unsigned sides)
{
	size_t width = 3 * sides + 1, n = l->count / width;
	int64_t end[2] = { 0 };

	for (size_t i = 0; i < n / 2; i++) {
		for (size_t k = 0; k < width; k++) {
			int64_t *a = &l->values[i * width + k], *b = &l->values[(n - 1 - i) * width + k], swap = *a;

			*a = *b;
			*b = swap;
		}
	}
	for (size_t i = 0; i < n; i++) {
		for (unsigned s = 0; s < sides; s++) {
			int64_t *x = &l->values[i * width + 3 * s], at = *x;

			*x = at - end[s];
			end[s] = saturating_sum(at, x[1]);
		}
	}
}

/* A node that is in both trees counts once, with the larger of its totals. */
static int64_t least_of_pairs(struct placing *p, uint32_t most)
{
	_cleanup_(freep) int64_t *totals = xmalloc(((size_t)p->trees[0]->count + p->trees[1]->count) * sizeof(*totals));
	struct pending n = { .total = { INT64_MAX } };	/* the maximum keeps the root shown */
	size_t count = 0;

	push(p, &n);
	while (p->count) {
		uint32_t at[2] = { 0 };

		n = p->waiting[--p->count];
		for (unsigned s = 0; s < 2; s++)
			if (n.node[s] || !count)
				at[s] = node_of(p, s, n.node[s])->child;
		totals[count] = n.total[0] > n.total[1] ? n.total[0] : n.total[1];
		count++;
		while (next_child(p, at, &n))
			push(p, &n);
	}
	return name_tree_least_of(totals, count, most);
}

void flame_arrays_init(struct flame_arrays *f, const struct name_tree *left, const struct name_tree *right, uint32_t most)
{
	struct placing p = { .f = f, .trees = { left, right } };
	struct pending root = { .name = { "total", 5 } };

	assert(most > 0);
	memset(f, 0, sizeof(*f));
	intern_init(&f->names);
	f->sides = right ? 2 : 1;
	for (unsigned s = 0; s < f->sides; s++)
		root.total[s] = f->totals[s] = p.trees[s]->nodes[0].total;
	f->total = saturating_sum(f->totals[0], f->totals[1]);
	p.least = right ? least_of_pairs(&p, most) : name_tree_least(left, most);
	push(&p, &root);
	while (p.count) {
		struct pending n = p.waiting[--p.count];

		place(&p, &n);
		push_children(&p, &n);
	}
	for (size_t i = 0; i < f->level_count; i++)
		turn_over(&f->levels[i], f->sides);
	free(p.waiting);
}

void flame_arrays_done(struct flame_arrays *f)
{
	for (size_t i = 0; i < f->level_count; i++)
		free(f->levels[i].values);
	free(f->levels);
	intern_done(&f->names);
	memset(f, 0, sizeof(*f));
}

static void put_level(const struct flame_level *l, struct buf *out)
{
	_cleanup_(buf_done) struct buf values = { 0 }, level = { 0 };

	buf_init(&values);
	buf_init(&level);
	for (size_t i = 0; i < l->count; i++)
		buf_put_varint(&values, (uint64_t)l->values[i]);
	protobuf_put_bytes(&level, LEVEL_VALUES, values.data, values.size);
	protobuf_put_bytes(out, FLAMEGRAPH_LEVELS, level.data, level.size);
}

void flame_arrays_put(const struct flame_arrays *f, struct buf *out)
{
	for (uint32_t i = 0; i < f->names.count; i++)
		protobuf_put_bytes(out, FLAMEGRAPH_NAMES, intern_get(&f->names, i).p, intern_get(&f->names, i).n);
	for (size_t i = 0; i < f->level_count; i++)
		put_level(&f->levels[i], out);
	protobuf_put_number(out, FLAMEGRAPH_TOTAL, (uint64_t)f->total);
	protobuf_put_number(out, FLAMEGRAPH_MAX_SELF, (uint64_t)f->max_self);
	if (f->sides == 2) {
		protobuf_put_number(out, FLAMEGRAPH_LEFT, (uint64_t)f->totals[0]);
		protobuf_put_number(out, FLAMEGRAPH_RIGHT, (uint64_t)f->totals[1]);
	}
}
