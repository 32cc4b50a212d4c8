/* flat.c: self and total values of every function. */

#include "report.h"

#include "edges.h"
#include "mem.h"
#include "saturate.h"
#include "walk.h"

#include <string.h>

/* Enters a frame on the way down. Only the outermost call counts, since its total includes the inner ones. */
static void enter(struct flat_row *rows, uint32_t *open, uint32_t frame, int64_t total)
{
	if (open[frame]++ == 0)
		saturating_add(&rows[frame].total, total);
}

static void add_totals(struct flat_row *rows, const struct profile *p, const int64_t *totals)
{
	_cleanup_(freep) uint32_t *open = xcalloc(p->frame_count + 1, sizeof(*open));
	_cleanup_(walk_done) struct walk w = { 0 };

	walk_init(&w, p);
	while (walk_next(&w))
		if (w.leaving)
			open[p->node_frames[w.node]]--;
		else
			enter(rows, open, p->node_frames[w.node], totals[w.node]);
}

struct order {
	const struct profile *p;
	enum report_sort sort;
};

static int compare(const void *a, const void *b, void *data)
{
	const struct flat_row *x = a, *y = b;
	const struct order *o = data;
	bool by_total = o->sort == REPORT_SORT_TOTAL;
	int64_t x1 = by_total ? x->total : x->self, y1 = by_total ? y->total : y->self;
	int64_t x2 = by_total ? x->self : x->total, y2 = by_total ? y->self : y->total;

	if (o->sort == REPORT_SORT_NAME)
		return profile_compare_frames(o->p, x->frame, y->frame);
	if (x1 != y1)
		return x1 > y1 ? -1 : 1;
	if (x2 != y2)
		return x2 > y2 ? -1 : 1;
	return profile_compare_frames(o->p, x->frame, y->frame);
}

/* Frames that exist only in the estimated tree, such as "[folded]", are not functions. */
static size_t add_edges(struct flat_row *rows, const struct profile *p, uint32_t column)
{
	_cleanup_(edges_sums_done) struct edges_sums sums = { 0 };
	size_t count = 0;

	edges_sums(p, &sums);
	for (uint32_t f = 0; f < p->frame_count; f++)
		if (sums.known[f])
			rows[count++] = (struct flat_row){ f, sums.self[f][column], sums.total[f][column],
							   sums.at_most[f] && !p->columns[column].counts_calls };
	return count;
}

/* Frames without stacks, such as mangled names of functions, are not functions either. */
static size_t add_tree(struct flat_row *rows, const struct profile *p, uint32_t column)
{
	_cleanup_(freep) int64_t *totals = profile_totals(p, column);
	_cleanup_(freep) bool *known = xcalloc((size_t)p->frame_count + 1, sizeof(*known));
	size_t count = 0;

	for (uint32_t i = 0; i < p->frame_count; i++)
		rows[i].frame = i;
	for (uint32_t n = 1; n < p->node_count; n++) {
		saturating_add(&rows[p->node_frames[n]].self, p->columns[column].self[n]);
		known[p->node_frames[n]] = true;
	}
	if (!p->columns[column].counts_calls)
		add_totals(rows, p, totals);
	for (uint32_t i = 0; i < p->frame_count; i++)
		if (known[i]) {
			rows[count] = rows[i];
			if (p->columns[column].counts_calls)
				rows[count].total = rows[i].self;
			count++;
		}
	return count;
}

struct flat_row *report_flat(const struct profile *p, uint32_t column, enum report_sort sort, size_t *ret_count)
{
	struct flat_row *rows = xcalloc((size_t)p->frame_count + 1, sizeof(*rows));
	struct order order = { p, sort };

	*ret_count = p->edges ? add_edges(rows, p, column) : add_tree(rows, p, column);
	qsort_r(rows, *ret_count, sizeof(*rows), compare, &order);
	return rows;
}

int64_t report_sum(const struct profile *p, uint32_t column)
{
	return edges_total(p, column);
}

/* Edges have sums by function only, so only those can be examined. */
static int64_t below_zero(const struct profile *p, uint32_t column)
{
	_cleanup_(freep) int64_t *self = NULL;
	int64_t sum = 0;

	if (!p->edges)
		return profile_below_zero(p, column, NULL);
	self = xcalloc((size_t)p->frame_count + 1, sizeof(*self));
	for (uint32_t n = 1; n < p->edges->node_count; n++)
		saturating_add(&self[p->edges->nodes[n].frame], p->edges->nodes[n].self[column]);
	for (uint32_t f = 0; f < p->frame_count; f++)
		saturating_add(&sum, self[f] < 0 ? self[f] : 0);
	return sum;
}

int64_t report_whole(const struct profile *p, uint32_t column)
{
	int64_t whole;

	if (__builtin_sub_overflow(report_sum(p, column), below_zero(p, column), &whole))
		return INT64_MAX;
	return whole;
}
