/* folded_write.c: walks the tree in the order of names; no recursion, stacks may be any number of frames deep. */
#include "folded_write.h"
#include "amount.h"
#include "mem.h"
#include "text.h"
#include <assert.h>
#include <limits.h>
#include <string.h>

static int compare_strings(struct str a, struct str b)
{
	int order = memcmp(a.p, b.p, a.n < b.n ? a.n : b.n);

	return order ? order : (a.n > b.n) - (a.n < b.n);
}

static int compare_frames(const void *a, const void *b, void *data)
{
	const struct profile *p = data;
	uint32_t i = *(const uint32_t *)a, j = *(const uint32_t *)b;
	int order = compare_strings(profile_name(p, i), profile_name(p, j));

	if (!order)
		order = compare_strings(profile_file(p, i), profile_file(p, j));
	if (!order)
		order = (p->frames[i].line > p->frames[j].line) - (p->frames[i].line < p->frames[j].line);
	return order;
}

/* Which node comes first below each, and which after it; 0 is none. */
struct order {
	uint32_t *first_child, *next_sibling;
};

/* Frames are sorted once, and nodes put into the lists of their parents in the order of their frames, from the back. */
static void order_init(struct order *o, const struct profile *p)
{
	_cleanup_(freep) uint32_t *frames = xmalloc(p->frame_count * sizeof(*frames));
	_cleanup_(freep) uint32_t *first = xcalloc(p->frame_count, sizeof(*first));
	_cleanup_(freep) uint32_t *next = xcalloc(p->node_count, sizeof(*next));

	o->first_child = xcalloc(p->node_count, sizeof(*o->first_child));
	o->next_sibling = xcalloc(p->node_count, sizeof(*o->next_sibling));
	for (uint32_t i = 0; i < p->frame_count; i++)
		frames[i] = i;
	qsort_r(frames, p->frame_count, sizeof(*frames), compare_frames, (void *)p);
	for (uint32_t n = 1; n < p->node_count; n++) {
		next[n] = first[p->node_frames[n]];
		first[p->node_frames[n]] = n;
	}
	for (uint32_t i = p->frame_count; i-- > 0;)
		for (uint32_t n = first[frames[i]]; n; n = next[n]) {
			o->next_sibling[n] = o->first_child[p->parents[n]];
			o->first_child[p->parents[n]] = n;
		}
}

static void order_done(struct order *o)
{
	free(o->first_child);
	free(o->next_sibling);
}

/* The name of the leaf must not be empty: readers drop empty frames at the end of a stack. */
static void put_line(struct buf *out, const struct buf *path, struct str leaf, int64_t value)
{
	buf_put(out, path->data, path->size);
	if (!leaf.n)
		buf_puts(out, "[unknown]");
	buf_putc(out, ' ');
	buf_put_i64(out, value);
	buf_putc(out, '\n');
}

/* Whatever reads folded stacks draws a width from the number, so that a negative one is none. */
static int tell_below_zero(const struct profile *p, uint32_t column, struct err *err)
{
	_cleanup_(buf_done) struct buf amount = { 0 };
	uint32_t nodes;
	int64_t sum = profile_below_zero(p, column, &nodes);

	if (!nodes)
		return 0;
	buf_init(&amount);
	amount_put(&amount, sum, amount_unit(p->columns[column].unit));
	err_set(err, -ERANGE, "%u stack%s with a value below zero (%s of %s in all) %s left out", nodes,
		nodes == 1 ? "" : "s", amount.data, p->columns[column].name, nodes == 1 ? "is" : "are");
	return nodes > INT_MAX ? INT_MAX : (int)nodes;
}

int folded_write(const struct profile *p, uint32_t column, struct buf *out, struct err *err)
{
	_cleanup_(freep) size_t *ends = NULL;	/* of the path above each depth */
	uint32_t depth = 0, n;
	struct order o;
	struct buf path;

	column = column == UINT32_MAX ? profile_pick_column(p, NULL) : column;
	if (column >= p->column_count)
		return err_set(err, -ENODATA, "there is nothing to write: the profile has no values");
	ends = xmalloc(((size_t)profile_depth(p) + 1) * sizeof(*ends));
	order_init(&o, p);
	buf_init(&path);
	n = o.first_child[PROFILE_ROOT];
	while (n) {
		struct str name = profile_name(p, p->node_frames[n]);

		ends[depth] = path.size;
		if (depth)
			buf_putc(&path, ';');
		text_put_folded(&path, name);
		if (p->columns[column].self[n] > 0)
			put_line(out, &path, name, p->columns[column].self[n]);
		if (o.first_child[n]) {
			n = o.first_child[n];
			depth++;
			continue;
		}
		path.size = ends[depth];
		while (n && !o.next_sibling[n]) {
			n = p->parents[n];
			if (n)
				path.size = ends[--depth];
		}
		n = n ? o.next_sibling[n] : 0;
	}
	buf_done(&path);
	order_done(&o);
	if (out->overflow)
		return err_set(err, -EFBIG, "the folded text is larger than the %zu bytes that fit", out->limit);
	return tell_below_zero(p, column, err);
}
