/* folded_write.c: walks the tree in the order of names, without recursion, since stacks may be of any depth. */
#include "folded_write.h"
#include "format.h"
#include "amount.h"
#include "mem.h"
#include "text.h"
#include <assert.h>
#include <limits.h>
#include <string.h>

/* Stacks are sorted by their bytes, like Perl does in other tools' scripts. A node has a key for its own line, which
 * ends with its name, and one for those of its children, which continue with ;: "read", "read64", "read;x". */
struct key {
	uint32_t frame;
	bool children;		/* the lines of the children rather than its own */
};

static int compare_keys(const void *a, const void *b, void *data)
{
	const struct profile *p = data;
	const struct key *i = a, *j = b;
	struct str x = profile_name(p, i->frame), y = profile_name(p, j->frame);
	size_t same = x.n < y.n ? x.n : y.n;
	int order = memcmp(x.p, y.p, same), after_x, after_y;

	if (order)
		return order;
	after_x = x.n > same ? (unsigned char)x.p[same] : i->children ? ';' : -1;
	after_y = y.n > same ? (unsigned char)y.p[same] : j->children ? ';' : -1;
	if (after_x != after_y)
		return after_x - after_y;
	return (i->frame > j->frame) - (i->frame < j->frame);
}

/* The numbers after a stack: one count, or the two of a difference. */
struct counts {
	uint32_t column, before;	/* before: UINT32_MAX, or the column of the first of two */
	uint32_t measured;		/* UINT32_MAX, or a column whose values also require a line */
};

static bool is_above_zero(const struct profile *p, uint32_t node, uint32_t column)
{
	return column != UINT32_MAX && p->columns[column].self[node] > 0;
}

static bool has_line(const struct profile *p, uint32_t node, struct counts c)
{
	return is_above_zero(p, node, c.column) || is_above_zero(p, node, c.before) ||
	       is_above_zero(p, node, c.measured);
}

/* The first item below each node, and the next one after each line or group of children; 0: none. The item of a
 * node's line is twice the node's number, that of its group of children one more. */
struct order {
	uint32_t *first, *next;
};

/* Sorts the keys once, and prepends the nodes to the lists of their parents in reverse order. */
static void order_init(struct order *o, const struct profile *p, struct counts c)
{
	_cleanup_(freep) struct key *keys = xmalloc((size_t)p->frame_count * 2 * sizeof(*keys));
	_cleanup_(freep) uint32_t *first = xcalloc(p->frame_count, sizeof(*first));
	_cleanup_(freep) uint32_t *next = xcalloc(p->node_count, sizeof(*next));
	_cleanup_(freep) bool *inner = xcalloc(p->node_count, sizeof(*inner));

	assert(p->node_count <= UINT32_MAX / 2);
	o->first = xcalloc(p->node_count, sizeof(*o->first));
	o->next = xcalloc((size_t)p->node_count * 2, sizeof(*o->next));
	for (size_t i = 0; i < (size_t)p->frame_count * 2; i++)
		keys[i] = (struct key){ (uint32_t)(i / 2), i & 1 };
	qsort_r(keys, (size_t)p->frame_count * 2, sizeof(*keys), compare_keys, (void *)p);
	for (uint32_t n = 1; n < p->node_count; n++) {
		next[n] = first[p->node_frames[n]];
		first[p->node_frames[n]] = n;
	}
	/* Marks nodes with a line somewhere below. */
	for (uint32_t n = p->node_count - 1; n > 0; n--)
		if (inner[n] || has_line(p, n, c))
			inner[p->parents[n]] = true;
	for (size_t i = (size_t)p->frame_count * 2; i-- > 0;)
		for (uint32_t n = first[keys[i].frame]; n; n = next[n]) {
			uint32_t item = n * 2 + keys[i].children;

			/* Most nodes have no line of their own. */
			if (keys[i].children ? !inner[n] : !has_line(p, n, c))
				continue;
			o->next[item] = o->first[p->parents[n]];
			o->first[p->parents[n]] = item;
		}
}

static void order_done(struct order *o)
{
	free(o->first);
	free(o->next);
}

/* Tells whether two frames have the same name, such as the <main> of two files: folded stacks only have names. */
static bool has_equal_names(const struct profile *p)
{
	_cleanup_(freep) bool *seen = xcalloc(p->strings.count, sizeof(*seen));

	for (uint32_t i = 0; i < p->frame_count; i++) {
		if (seen[p->frames[i].name])
			return true;
		seen[p->frames[i].name] = true;
	}
	return false;
}

static uint32_t same_column(struct profile *to, const struct profile *from, uint32_t column)
{
	if (column == UINT32_MAX)
		return UINT32_MAX;
	return profile_column(to, from->columns[column].name, from->columns[column].unit);
}

static void add_value(struct profile *to, uint32_t node, uint32_t column, const struct profile *from, uint32_t n,
		      uint32_t c)
{
	if (column != UINT32_MAX)
		profile_add(to, node, column, from->columns[c].self[n]);
}

/* Returns these columns of `p` with frames merged by name, so that each stack of names occurs once. */
static struct profile *by_names(const struct profile *p, struct counts c, struct counts *ret_counts)
{
	_cleanup_(freep) uint32_t *nodes = xcalloc(p->node_count, sizeof(*nodes));
	struct profile *names = profile_new();

	ret_counts->column = same_column(names, p, c.column);
	ret_counts->before = same_column(names, p, c.before);
	ret_counts->measured = same_column(names, p, c.measured);
	for (uint32_t n = 1; n < p->node_count; n++) {
		struct str name = profile_name(p, p->node_frames[n]);

		nodes[n] = profile_child(names, nodes[p->parents[n]],
					 profile_frame(names, name, (struct str){ "", 0 }, 0));
		add_value(names, nodes[n], ret_counts->column, p, n, c.column);
		if (c.before != c.column)
			add_value(names, nodes[n], ret_counts->before, p, n, c.before);
		if (c.measured != c.before)
			add_value(names, nodes[n], ret_counts->measured, p, n, c.measured);
	}
	return names;
}

/* Puts a fractional count with as many digits as needed. */
static void put_scaled(struct buf *out, int64_t count, int64_t scale)
{
	int64_t whole = count / scale, part = count % scale;

	if (part < 0) {
		buf_puts(out, whole ? "" : "-");
		part = -part;
	}
	buf_put_i64(out, whole);
	if (part)
		buf_putc(out, '.');
	for (; part; part = part * 10 % scale)
		buf_putc(out, (char)('0' + part * 10 / scale));
}

/* Negative values are written as 0. */
static void put_count(struct buf *out, const struct profile *p, uint32_t node, uint32_t column)
{
	int64_t count = p->columns[column].self[node];

	put_scaled(out, count > 0 ? count : 0, profile_scale(p, column));
}

/* The name of the leaf must not be empty: readers drop empty frames at the end of a stack. */
static void put_line(struct buf *out, const struct buf *path, struct str leaf, const struct profile *p, uint32_t node,
		     struct counts c)
{
	buf_put(out, path->data, path->size);
	if (!leaf.n)
		buf_puts(out, PROFILE_UNKNOWN);
	if (c.before != UINT32_MAX) {
		buf_putc(out, ' ');
		put_count(out, p, node, c.before);
	}
	buf_putc(out, ' ');
	put_count(out, p, node, c.column);
	buf_putc(out, '\n');
}

/* Readers of folded stacks draw widths from the numbers, so negative ones are left out. */
static int report_below_zero(const struct profile *p, uint32_t column, struct err *err)
{
	_cleanup_(buf_done) struct buf amount = { 0 };
	uint32_t nodes;
	int64_t sum = profile_below_zero(p, column, &nodes), scale = profile_scale(p, column);

	if (!nodes)
		return 0;
	buf_init(&amount);
	if (scale == 1)
		amount_put(&amount, sum, amount_unit(p->columns[column].unit));
	else
		put_scaled(&amount, sum, scale);
	err_set(err, -ERANGE, "%u stack%s with a value below zero (%s of %s in all) %s left out", nodes,
		nodes == 1 ? "" : "s", amount.data, p->columns[column].name, nodes == 1 ? "is" : "are");
	return nodes > INT_MAX ? INT_MAX : (int)nodes;
}

static void put_lines(const struct profile *p, struct counts c, struct buf *out)
{
	/* The end of the path at each depth. */
	_cleanup_(freep) size_t *ends = xmalloc(((size_t)profile_depth(p) + 1) * sizeof(*ends));
	uint32_t depth = 0;
	struct order o;
	struct buf path;
	uint32_t item;

	order_init(&o, p, c);
	buf_init(&path);
	item = o.first[PROFILE_ROOT];
	while (item) {
		uint32_t n = item / 2;
		struct str name = profile_name(p, p->node_frames[n]);

		ends[depth] = path.size;
		if (depth)
			buf_putc(&path, ';');
		text_put_folded(&path, name);
		if (item & 1) {
			item = o.first[n];
			depth++;
			continue;
		}
		put_line(out, &path, name, p, n, c);
		path.size = ends[depth];
		for (item = o.next[item]; !item && depth > 0; item = o.next[n * 2 + 1]) {
			n = p->parents[n];
			path.size = ends[--depth];
		}
	}
	buf_done(&path);
	order_done(&o);
}

static int write_counts(const struct profile *p, struct counts c, struct buf *out, struct err *err)
{
	if (has_equal_names(p)) {
		struct counts of_names;
		struct profile *names = by_names(p, c, &of_names);

		put_lines(names, of_names, out);
		profile_free(names);
	} else {
		put_lines(p, c, out);
	}
	if (out->overflow)
		return err_set(err, -EFBIG, "the folded text is larger than the %zu bytes that fit", out->limit);
	return 0;
}

int folded_write(const struct profile *p, uint32_t column, struct buf *out, struct err *err)
{
	int e;

	column = column == UINT32_MAX ? profile_pick_column(p, NULL) : column;
	if (column >= p->column_count)
		return err_set(err, -ENODATA, "nothing to write: the profile has no values");
	e = write_counts(p, (struct counts){ column, UINT32_MAX, UINT32_MAX }, out, err);
	return e < 0 ? e : report_below_zero(p, column, err);
}

int folded_write_difference(const struct profile *p, uint32_t before, uint32_t after, uint32_t measured,
			    struct buf *out, struct err *err)
{
	int e = write_counts(p, (struct counts){ after, before, measured }, out, err), left_out;

	if (e < 0)
		return e;
	left_out = report_below_zero(p, after, err);
	return left_out ? left_out : report_below_zero(p, before, err);
}

/* Puts the frames of a stack, root first. */
static void put_stack(const struct profile *p, uint32_t node, uint32_t *path, struct buf *out)
{
	uint32_t depth = 0;

	for (; node != PROFILE_ROOT; node = p->parents[node])
		path[depth++] = node;
	while (depth-- > 0) {
		struct str name = profile_name(p, p->node_frames[path[depth]]);

		text_put_folded(out, name);
		if (depth)
			buf_putc(out, ';');
		else if (!name.n)
			buf_puts(out, PROFILE_UNKNOWN);
	}
}

int folded_write_order(const struct profile *p, const struct buf *order, struct buf *out, struct err *err)
{
	_cleanup_(freep) uint32_t *path = xmalloc(((size_t)profile_depth(p) + 1) * sizeof(*path));
	const struct format_stack *stacks = (const struct format_stack *)(const void *)order->data;

	for (size_t i = 0; i < order->size / sizeof(*stacks); i++) {
		put_stack(p, stacks[i].node, path, out);
		buf_putc(out, ' ');
		buf_put_i64(out, stacks[i].value);
		buf_putc(out, '\n');
	}
	if (out->overflow)
		return err_set(err, -EFBIG, "the folded text is larger than the %zu bytes that fit", out->limit);
	return 0;
}
