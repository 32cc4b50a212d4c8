/* name_tree.c: merges nodes of stacks by name from the root downwards, and only on demand. */
#include "name_tree.h"

#include "mem.h"
#include "saturate.h"
#include "text.h"

#include <assert.h>
#include <string.h>

/* --- Names --- */

/* Clients would end a name at a NUL, which PHP's names of anonymous classes have. */
static void put_without_nul(struct buf *safe, struct str s)
{
	while (s.n) {
		size_t n = strnlen(s.p, s.n);

		text_put_utf8(safe, (struct str){ s.p, n });
		if (n < s.n) {
			buf_puts(safe, "\xef\xbf\xbd");
			n++;
		}
		s.p += n;
		s.n -= n;
	}
}

struct str name_tree_name(struct str s, struct buf *safe)
{
	if (text_is(s, PROFILE_PRUNED))
		return (struct str){ NAME_TREE_OTHER, strlen(NAME_TREE_OTHER) };
	buf_reset(safe);
	put_without_nul(safe, s);
	return profile_visible_name((struct str){ safe->data, safe->size });
}

static uint32_t add_name(struct name_tree *t, struct str s, struct buf *safe)
{
	s = name_tree_name(s, safe);
	return intern_add(&t->names, s.p, s.n);
}

/* --- Nodes of the stacks --- */

/* A tree that is expanded downwards. Node 0 of the values is the root, and never a child. */
struct growing {
	struct name_tree *tree;
	const struct stack_values *values;
	struct buf safe;
	uint32_t *names;		/* by frame; UINT32_MAX: not interned yet */
	uint32_t *found;		/* scratch of expand(), by name: the child with that name, or 0 */

	/* By node of the values. */
	int64_t *totals;
	uint32_t *child, *next;		/* first child, next sibling; 0: none */
	uint32_t *same;			/* the next one merged into the same node of the tree; 0: none */

	/* By node of the tree. */
	uint32_t *members;		/* the first node of the values that was merged into it */
};

static uint32_t name_of_frame(struct growing *g, uint32_t frame)
{
	if (g->names[frame] == UINT32_MAX)
		g->names[frame] = add_name(g->tree, stack_values_frame(g->values, frame).name, &g->safe);
	return g->names[frame];
}

/* Negative values, which are freed memory, count as zero. */
static int64_t above_zero(int64_t v)
{
	return v > 0 ? v : 0;
}

/* Children have larger numbers than their parents, so one backward pass is enough. */
static void add_totals(struct growing *g)
{
	const struct stack_values *v = g->values;

	for (uint32_t i = 0; i < v->node_count; i++)
		g->totals[i] = i == PROFILE_ROOT ? 0 : above_zero(v->self[i]);
	for (uint32_t i = v->node_count; i-- > 1;) {
		uint32_t parent = v->parents[i];

		assert(parent < i);
		saturating_add(&g->totals[parent], g->totals[i]);
		g->next[i] = g->child[parent];
		g->child[parent] = i;
	}
}

/* --- Nodes of the tree --- */

static struct str name_of(const struct name_tree *t, uint32_t node)
{
	return intern_get(&t->names, t->nodes[node].name);
}

static int compare_names(const void *a, const void *b, void *data)
{
	return text_compare(name_of(data, *(const uint32_t *)a), name_of(data, *(const uint32_t *)b));
}

/* Merges a node of the values into the child named `name` of the node that is being expanded. */
static void add_member(struct growing *g, uint32_t node, uint32_t name)
{
	struct name_tree *t = g->tree;
	uint32_t at = g->found[name];

	if (!at) {
		at = g->found[name] = t->count++;
		t->nodes[at] = (struct name_node){ .name = name };
		g->members[at] = 0;
	}
	g->same[node] = g->members[at];
	g->members[at] = node;
	saturating_add(&t->nodes[at].self, above_zero(g->values->self[node]));
	saturating_add(&t->nodes[at].total, g->totals[node]);
}

/* Sorts the nodes from `first` on by name and links them as siblings. */
static void link_children(struct growing *g, uint32_t parent, uint32_t first)
{
	struct name_tree *t = g->tree;
	uint32_t n = t->count - first;
	_cleanup_(freep) uint32_t *list = xmalloc((n + 1) * sizeof(*list));

	for (uint32_t i = 0; i < n; i++) {
		list[i] = first + i;
		g->found[t->nodes[first + i].name] = 0;
	}
	if (n > 1)
		qsort_r(list, n, sizeof(*list), compare_names, t);
	t->nodes[parent].child = n ? list[0] : 0;
	for (uint32_t i = 0; i < n; i++)
		t->nodes[list[i]].next = i + 1 < n ? list[i + 1] : 0;
}

/* Creates the children of a node with their totals. Children without a value are omitted, since clients would draw
 * them below a neighbor. */
static void expand(struct growing *g, uint32_t at)
{
	uint32_t first = g->tree->count, member = g->members[at];

	do {
		for (uint32_t c = g->child[member]; c; c = g->next[c])
			if (g->totals[c] > 0)
				add_member(g, c, name_of_frame(g, g->values->node_frames[c]));
		member = g->same[member];
	} while (member);
	link_children(g, at, first);
}

/* --- The largest nodes first --- */

#define NO_NODE UINT32_MAX		/* this side lacks the node */

/* A node of one tree, or the matching nodes of two trees that are compared. It is as large as the larger of its
 * sides. */
struct pair {
	uint32_t node[2];
	int64_t total;
};

struct queue {
	struct pair *items;		/* a max-heap by total: the parent of i is (i - 1) / 2 */
	size_t count, capacity;
};

static void swap_places(struct queue *q, size_t a, size_t b)
{
	struct pair item = q->items[a];

	q->items[a] = q->items[b];
	q->items[b] = item;
}

static void queue_put(struct queue *q, struct pair pair)
{
	size_t at = q->count++;

	GROW(&q->items, &q->capacity, q->count);
	q->items[at] = pair;
	for (; at && q->items[at].total > q->items[(at - 1) / 2].total; at = (at - 1) / 2)
		swap_places(q, at, (at - 1) / 2);
}

static struct pair queue_take(struct queue *q)
{
	struct pair first = q->items[0];
	size_t at = 0, child;

	q->items[0] = q->items[--q->count];
	while ((child = 2 * at + 1) < q->count) {
		if (child + 1 < q->count && q->items[child + 1].total > q->items[child].total)
			child++;
		if (q->items[child].total <= q->items[at].total)
			break;
		swap_places(q, at, child);
		at = child;
	}
	return first;
}

bool name_tree_next_pair(const struct name_tree *const trees[2], uint32_t at[2], uint32_t ret[2])
{
	int order = !at[0] - !at[1];

	if (at[0] && at[1])
		order = text_compare(name_of(trees[0], at[0]), name_of(trees[1], at[1]));
	ret[0] = order <= 0 ? at[0] : 0;
	ret[1] = order >= 0 ? at[1] : 0;
	for (unsigned s = 0; s < 2; s++)
		if (ret[s])
			at[s] = trees[s]->nodes[ret[s]].next;
	return ret[0] || ret[1];
}

static void put_children(struct queue *q, const struct name_tree *const trees[2], struct pair of)
{
	uint32_t at[2] = { 0 }, child[2];

	for (unsigned s = 0; s < 2; s++)
		if (of.node[s] != NO_NODE)
			at[s] = trees[s]->nodes[of.node[s]].child;
	while (name_tree_next_pair(trees, at, child)) {
		struct pair pair = { .total = 0 };

		for (unsigned s = 0; s < 2; s++) {
			pair.node[s] = child[s] ? child[s] : NO_NODE;
			if (child[s] && trees[s]->nodes[child[s]].total > pair.total)
				pair.total = trees[s]->nodes[child[s]].total;
		}
		queue_put(q, pair);
	}
}

/* Nodes are never larger than their parents, so best-first search finds the `most` largest ones, and those tied with
 * the last of them. */
static void grow_largest(struct growing *const g[2], struct pair from, uint32_t most)
{
	const struct name_tree *trees[2] = { g[0]->tree, g[1] ? g[1]->tree : NULL };
	struct queue q = { 0 };
	int64_t least = 0;

	queue_put(&q, from);
	for (uint32_t n = 0; q.count && (n < most || q.items[0].total == least); n++) {
		struct pair pair = queue_take(&q);

		least = pair.total;
		for (unsigned s = 0; s < 2; s++)
			if (pair.node[s] != NO_NODE)
				expand(g[s], pair.node[s]);
		put_children(&q, trees, pair);
	}
	free(q.items);
}

/* Expands all nodes, without a queue. */
static void grow_whole(struct growing *g, uint32_t from)
{
	for (uint32_t i = from; i < g->tree->count; i++)
		if (g->tree->nodes[i].total)	/* zero: beside the call site */
			expand(g, i);
}

/* --- The call site --- */

/* Removes all children of a node except the one of that name. Returns it, or 0 if there is none. */
static uint32_t keep_child(struct name_tree *t, uint32_t at, const char *name)
{
	uint32_t kept = t->nodes[at].child;

	while (kept && !text_is(name_of(t, kept), name))
		kept = t->nodes[kept].next;
	if (kept)
		t->nodes[kept].next = 0;
	t->nodes[at].child = kept;
	return kept;
}

/* Expands the tree along the call site only, gives all nodes on the way the total of the last one, and returns that;
 * 0 if the call site does not occur. */
static uint32_t enter_call_site(struct growing *g, const char *const *call_site, size_t depth)
{
	struct name_tree *t = g->tree;
	uint32_t at = NAME_TREE_ROOT;

	for (size_t i = 0; i < depth; i++) {
		expand(g, at);
		at = keep_child(t, at, call_site[i]);
		if (!at)
			break;
	}
	for (uint32_t i = NAME_TREE_ROOT; i < t->count; i++)
		if (!at || i != at)
			t->nodes[i].self = t->nodes[i].total = 0;
	if (!at)
		t->nodes[NAME_TREE_ROOT].child = 0;
	for (uint32_t i = NAME_TREE_ROOT; at && i != at; i = t->nodes[i].child)
		t->nodes[i].total = t->nodes[at].total;
	return at;
}

/* Returns the node to grow from, or NO_NODE if there is none. */
static uint32_t begin_tree(struct growing *g, const char *const *call_site, size_t depth)
{
	uint32_t at;

	add_totals(g);
	g->tree->nodes[NAME_TREE_ROOT].total = g->totals[PROFILE_ROOT];
	at = depth ? enter_call_site(g, call_site, depth) : NAME_TREE_ROOT;
	return at || !depth ? at : NO_NODE;
}

/* Returns the node to grow from, or NO_NODE if there are no values. */
static uint32_t growing_init(struct growing *g, struct name_tree *t, const struct name_tree_source *of)
{
	const struct stack_values *v = of->values;
	size_t n = v->self ? v->node_count : 1;

	*g = (struct growing){ .tree = t, .values = v };
	buf_init(&g->safe);
	memset(t, 0, sizeof(*t));
	intern_init(&t->names);
	intern_add(&t->names, "total", 5);
	t->nodes = xcalloc(n, sizeof(*t->nodes));
	t->count = 1;
	if (!v->self)
		return NO_NODE;
	g->names = xmalloc((v->frame_count + 1) * sizeof(*g->names));
	memset(g->names, 0xff, (v->frame_count + 1) * sizeof(*g->names));
	g->found = xcalloc(t->names.count + v->frame_count, sizeof(*g->found));
	g->totals = xmalloc(n * sizeof(*g->totals));
	g->child = xcalloc(n, sizeof(*g->child));
	g->next = xmalloc(n * sizeof(*g->next));
	g->same = xmalloc(n * sizeof(*g->same));
	g->members = xmalloc(n * sizeof(*g->members));
	g->members[NAME_TREE_ROOT] = g->same[PROFILE_ROOT] = 0;
	return begin_tree(g, of->call_site, of->depth);
}

static void growing_done(struct growing *g)
{
	buf_done(&g->safe);
	free(g->names);
	free(g->found);
	free(g->totals);
	free(g->child);
	free(g->next);
	free(g->same);
	free(g->members);
}

void name_tree_init(struct name_tree *t, const struct name_tree_source *of, uint32_t most)
{
	struct growing g;
	uint32_t from = growing_init(&g, t, of);

	if (from != NO_NODE && most < of->values->node_count)
		grow_largest((struct growing *[]){ &g, NULL }, (struct pair){ { from, NO_NODE }, t->nodes[from].total }, most);
	else if (from != NO_NODE)
		grow_whole(&g, from);
	growing_done(&g);
}

void name_tree_init_pair(struct name_tree trees[2], const struct name_tree_source of[2], uint32_t most)
{
	struct growing g[2];
	struct pair from = { .total = INT64_MAX };

	for (unsigned s = 0; s < 2; s++)
		from.node[s] = growing_init(&g[s], &trees[s], &of[s]);
	if (!of[0].depth && !of[1].depth)
		grow_largest((struct growing *[]){ &g[0], &g[1] }, from, most);
	else			/* they may begin at different names */
		for (unsigned s = 0; s < 2; s++)
			grow_whole(&g[s], from.node[s]);
	for (unsigned s = 0; s < 2; s++)
		growing_done(&g[s]);
}

void name_tree_done(struct name_tree *t)
{
	intern_done(&t->names);
	free(t->nodes);
	memset(t, 0, sizeof(*t));
}

/* Partitions the list until the requested element is in its place; the rest need not be sorted. */
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
	return t->nodes[node].total >= least && !text_is(name_of(t, node), NAME_TREE_OTHER);
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
