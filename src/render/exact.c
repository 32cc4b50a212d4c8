/* exact.c: computes sums of edges for a picture. */

#include "exact.h"

#include "mem.h"
#include "saturate.h"

#include <string.h>

int64_t exact_total(const struct profile *p, const struct edges_sums *sums, uint32_t column)
{
	int64_t whole = p->edges->nodes[EDGES_ROOT].self[column];

	for (uint32_t f = 0; f < p->frame_count; f++)
		if (sums->self[f][column] > 0)
			saturating_add(&whole, sums->self[f][column]);
	return whole;
}

struct exact *exact_new(const struct profile *p, const struct flamegraph_options *o)
{
	struct exact *x;

	if (!p->edges || o->column >= p->column_count)
		return NULL;
	x = xcalloc(1, sizeof(*x));
	x->p = p;
	x->column = o->column;
	x->before = o->before_column == UINT32_MAX ? UINT32_MAX : profile_measured(p, o->before_column);
	if (x->before != UINT32_MAX)
		x->scaling = p->columns[o->before_column].scaling;
	x->of_calls = p->columns[o->column].counts_calls;
	edges_sums(p, &x->sums);
	x->whole = exact_total(p, &x->sums, x->column);
	if (x->before != UINT32_MAX)
		x->whole_before = exact_total(p, &x->sums, x->before);
	else if (o->total < 9e18 && x->whole < (int64_t)o->total)
		x->whole = (int64_t)o->total;
	return x;
}

struct exact *exact_free(struct exact *x)
{
	if (x)
		edges_sums_done(&x->sums);
	free(x);
	return NULL;
}

void exact_freep(struct exact **x)
{
	exact_free(*x);
}

bool exact_is_at_most(const struct exact *x, uint32_t frame)
{
	return x->sums.at_most[frame] && !x->of_calls;
}
