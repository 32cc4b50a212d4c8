/* flame_layout.c: computes layouts with passes over arrays, without recursion. */
#include "flame_layout.h"

#include "mem.h"
#include "saturate.h"

#include <string.h>

void flame_layout_done(struct flame_layout *l)
{
	free(l->totals);
	free(l->before);
	free(l->measured);
	free(l->after);
	free(l->first_child);
	free(l->children);
	free(l->order);
	free(l->starts);
	free(l->depths);
}

static int64_t larger(int64_t a, int64_t b)
{
	a = a > b ? a : b;
	return a > 0 ? a : 0;
}

static int64_t own_width(int64_t after, int64_t before, enum flamegraph_width_of of)
{
	int64_t change;

	switch (of) {
	case WIDTH_OF_AFTER:
		return larger(after, 0);
	case WIDTH_OF_BEFORE:
		return larger(before, 0);
	case WIDTH_OF_DIFFERENCE:
		change = saturating_difference(larger(after, 0), larger(before, 0));
		return change < 0 ? -change : change;
	default:
		return larger(after, before);
	}
}

/* Computes totals of self widths. Negative values, as for freed memory, count as zero; otherwise callees could be
 * wider than their caller. */
static int64_t *totals_of_widths(const struct profile *p, uint32_t column, uint32_t before_column, enum flamegraph_width_of of)
{
	const int64_t *after = p->columns[column].self, *before = p->columns[before_column].self;
	int64_t *totals = xcalloc(p->node_count, sizeof(*totals));

	for (uint32_t i = p->node_count; i-- > 0;) {
		int64_t own = own_width(after[i], before[i], of);

		if (__builtin_add_overflow(totals[i], own, &totals[i]))
			totals[i] = INT64_MAX;
		if (i > 0 && __builtin_add_overflow(totals[p->parents[i]], totals[i], &totals[p->parents[i]]))
			totals[p->parents[i]] = INT64_MAX;
	}
	return totals;
}

static void find_sides(struct flame_layout *l, uint32_t column, uint32_t before_column)
{
	const struct profile *p = l->p;
	uint32_t measured = profile_measured(p, before_column);

	l->totals = totals_of_widths(p, column, before_column, l->width_of);
	l->before = profile_totals(p, before_column);
	l->measured = measured == before_column ? NULL : profile_totals(p, measured);
	l->after = profile_totals(p, column);
	for (uint32_t i = 0; i < p->node_count; i++) {
		l->before[i] = larger(l->before[i], 0);
		l->after[i] = larger(l->after[i], 0);
		if (l->measured)
			l->measured[i] = larger(l->measured[i], 0);
	}
}

void flame_layout_totals(struct flame_layout *l, uint32_t column, uint32_t before_column)
{
	const struct profile *p = l->p;

	if (column >= p->column_count)
		l->totals = xcalloc(p->node_count, sizeof(*l->totals));
	else if (before_column == UINT32_MAX)
		l->totals = totals_of_widths(p, column, column, WIDTH_OF_MAXIMUM);
	else
		find_sides(l, column, before_column);
}

/* --- Sorting --- */

/* Sorts the boxes except the root by the rank of their frame, with a counting sort. The caller frees. */
static uint32_t *boxes_by_name(const struct flame_layout *l, uint32_t *ret_count)
{
	const struct profile *p = l->p;
	_cleanup_(freep) uint32_t *ranks = profile_rank_frames(p);
	_cleanup_(freep) uint32_t *at = xcalloc((size_t)p->frame_count + 1, sizeof(*at));
	uint32_t *sorted = xcalloc(p->node_count, sizeof(*sorted));

	for (uint32_t i = 1; i < p->node_count; i++)
		if (flame_layout_is_box(l, i))
			at[ranks[p->node_frames[i]] + 1]++;
	for (uint32_t f = 0; f < p->frame_count; f++)
		at[f + 1] += at[f];
	*ret_count = at[p->frame_count];
	for (uint32_t i = 1; i < p->node_count; i++)
		if (flame_layout_is_box(l, i))
			sorted[at[ranks[p->node_frames[i]]]++] = i;
	return sorted;
}

/* A second, stable counting sort by parent keeps the names in order among siblings. */
void flame_layout_children(struct flame_layout *l)
{
	const struct profile *p = l->p;
	uint32_t count;
	_cleanup_(freep) uint32_t *by_name = boxes_by_name(l, &count);
	_cleanup_(freep) uint32_t *at = NULL;

	l->first_child = xcalloc((size_t)p->node_count + 1, sizeof(*l->first_child));
	l->children = xcalloc(p->node_count, sizeof(*l->children));
	for (uint32_t i = 0; i < count; i++)
		l->first_child[p->parents[by_name[i]] + 1]++;
	for (uint32_t i = 0; i < p->node_count; i++)
		l->first_child[i + 1] += l->first_child[i];

	at = xcalloc((size_t)p->node_count + 1, sizeof(*at));
	memcpy(at, l->first_child, ((size_t)p->node_count + 1) * sizeof(*at));
	for (uint32_t i = 0; i < count; i++)
		l->children[at[p->parents[by_name[i]]]++] = by_name[i];
}
