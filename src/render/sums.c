/* sums.c: computes the values of every function. */

#include "sums.h"

#include "mem.h"
#include "saturate.h"
#include "walk.h"

int64_t *sums_of_totals(const struct profile *p, const int64_t *totals)
{
	_cleanup_(freep) uint32_t *open = xcalloc((size_t)p->frame_count + 1, sizeof(*open));
	int64_t *sums = xcalloc((size_t)p->frame_count + 1, sizeof(*sums));
	_cleanup_(walk_done) struct walk w = { 0 };

	walk_init(&w, p);
	while (walk_next(&w)) {
		uint32_t frame = p->node_frames[w.node];

		if (w.leaving)
			open[frame]--;
		else if (open[frame]++ == 0)
			saturating_add(&sums[frame], totals[w.node]);
	}
	return sums;
}

void sums_of_column(const struct profile *p, uint32_t column, int64_t **ret_self, int64_t **ret_total)
{
	int64_t *self = xcalloc((size_t)p->frame_count + 1, sizeof(*self));
	_cleanup_(freep) int64_t *totals = xcalloc(p->node_count, sizeof(*totals));

	for (uint32_t n = p->node_count - 1; n > 0; n--) {
		int64_t own = p->columns[column].self[n] > 0 ? p->columns[column].self[n] : 0;

		saturating_add(&self[p->node_frames[n]], own);
		saturating_add(&totals[n], own);
		saturating_add(&totals[p->parents[n]], totals[n]);
	}
	*ret_self = self;
	*ret_total = sums_of_totals(p, totals);
}
