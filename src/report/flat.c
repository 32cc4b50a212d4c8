/* flat.c: what every function took, by itself and with all that it called. */

#include "report.h"

#include "mem.h"

#include <string.h>

/* The tree as lists of children, for walking it in depth-first order without recursion. 0 is none. */
struct links {
	uint32_t *first_child, *next_sibling;
};

static void links_init(struct links *l, const struct profile *p)
{
	l->first_child = xcalloc(p->node_count, sizeof(*l->first_child));
	l->next_sibling = xcalloc(p->node_count, sizeof(*l->next_sibling));
	for (uint32_t n = p->node_count - 1; n > 0; n--) {
		l->next_sibling[n] = l->first_child[p->parents[n]];
		l->first_child[p->parents[n]] = n;
	}
}

static void links_done(struct links *l)
{
	free(l->first_child);
	free(l->next_sibling);
}

/* Opens a frame on the way down. Only its outermost call counts, for its total holds those of the inner ones. */
static void enter(struct flat_row *rows, uint32_t *open, uint32_t frame, int64_t total)
{
	if (open[frame]++ == 0 && __builtin_add_overflow(rows[frame].total, total, &rows[frame].total))
		rows[frame].total = total < 0 ? INT64_MIN : INT64_MAX;
}

static void add_totals(struct flat_row *rows, const struct profile *p, const int64_t *totals)
{
	_cleanup_(freep) uint32_t *open = xcalloc(p->frame_count + 1, sizeof(*open));
	_cleanup_(links_done) struct links links = { 0 };
	uint32_t n = PROFILE_ROOT;

	links_init(&links, p);
	for (;;) {
		if (links.first_child[n]) {
			n = links.first_child[n];
		} else {
			while (n != PROFILE_ROOT && !links.next_sibling[n]) {
				open[p->node_frames[n]]--;
				n = p->parents[n];
			}
			if (n == PROFILE_ROOT)
				return;
			open[p->node_frames[n]]--;
			n = links.next_sibling[n];
		}
		enter(rows, open, p->node_frames[n], totals[n]);
	}
}

struct order {
	const struct profile *p;
	bool by_total;
};

static int compare_names(const struct profile *p, uint32_t a, uint32_t b)
{
	struct str x = profile_name(p, a), y = profile_name(p, b);
	int r = memcmp(x.p, y.p, x.n < y.n ? x.n : y.n);

	if (r)
		return r;
	if (x.n != y.n)
		return x.n < y.n ? -1 : 1;
	return a < b ? -1 : a > b;
}

static int compare(const void *a, const void *b, void *data)
{
	const struct flat_row *x = a, *y = b;
	const struct order *o = data;
	int64_t x1 = o->by_total ? x->total : x->self, y1 = o->by_total ? y->total : y->self;
	int64_t x2 = o->by_total ? x->self : x->total, y2 = o->by_total ? y->self : y->total;

	if (x1 != y1)
		return x1 > y1 ? -1 : 1;
	if (x2 != y2)
		return x2 > y2 ? -1 : 1;
	return compare_names(o->p, x->frame, y->frame);
}

struct flat_row *report_flat(const struct profile *p, uint32_t column, bool by_total, size_t *ret_count)
{
	struct flat_row *rows = xcalloc((size_t)p->frame_count + 1, sizeof(*rows));
	_cleanup_(freep) int64_t *totals = profile_totals(p, column);
	struct order order = { p, by_total };

	for (uint32_t i = 0; i < p->frame_count; i++)
		rows[i].frame = i;
	for (uint32_t n = 1; n < p->node_count; n++) {
		struct flat_row *row = &rows[p->node_frames[n]];

		if (__builtin_add_overflow(row->self, p->columns[column].self[n], &row->self))
			row->self = p->columns[column].self[n] < 0 ? INT64_MIN : INT64_MAX;
	}
	add_totals(rows, p, totals);
	qsort_r(rows, p->frame_count, sizeof(*rows), compare, &order);
	*ret_count = p->frame_count;
	return rows;
}

int64_t report_whole(const struct profile *p, uint32_t column)
{
	int64_t whole;

	if (__builtin_sub_overflow(profile_sum(p, column), profile_below_zero(p, column, NULL), &whole))
		return INT64_MAX;
	return whole;
}
