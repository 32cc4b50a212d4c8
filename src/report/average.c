/* average.c: the weighted average of several runs. */

#include "report.h"

#include "average.h"
#include "mem.h"

#include <assert.h>
#include <string.h>

/* The tree of all, with nothing in it yet, and the sums of value × weight by column and node. */
struct averaging {
	struct profile *all;
	wide_int *sums[PROFILE_COLUMNS];
};

static void add_nodes(struct averaging *a, const struct profile *p, uint32_t *nodes)
{
	_cleanup_(freep) uint32_t *frames = xcalloc((size_t)p->frame_count + 1, sizeof(*frames));

	for (uint32_t f = 0; f < p->frame_count; f++)
		frames[f] = profile_frame(a->all, profile_name(p, f), profile_file(p, f), p->frames[f].line);
	for (uint32_t n = 1; n < p->node_count; n++)
		nodes[n] = profile_child_at(a->all, nodes[p->parents[n]], frames[p->node_frames[n]], profile_line(p, n));
}

static void add_sums(struct averaging *a, const struct profile *p, const uint32_t *nodes, uint64_t weight)
{
	for (uint32_t c = 0; c < p->column_count; c++) {
		uint32_t column = profile_find_column(a->all, p->columns[c].name);

		for (uint32_t n = 0; column != UINT32_MAX && n < p->node_count; n++)
			a->sums[column][nodes[n]] += (wide_int)p->columns[c].self[n] * (wide_int)weight;
	}
}

static void divide(struct averaging *a, uint32_t column, wide_int by)
{
	wide_int sum = 0, given = 0;

	for (uint32_t n = 0; n < a->all->node_count; n++) {
		wide_int share;

		/* Rounding makes nothing appear that was not measured. */
		sum += a->sums[column][n];
		if (!a->sums[column][n])
			continue;
		share = average_divide(sum, by) - given;
		given += share;
		profile_add(a->all, n, column, (int64_t)share);
	}
}

static void describe(struct profile *all, const struct profile *p)
{
	profile_describe(all, p->period_ns, p->mixed_periods, &p->labels);
	profile_cover(all, p->start_ns, p->end_ns);
	for (uint32_t c = 0; c < p->column_count; c++)
		profile_column(all, p->columns[c].name, p->columns[c].unit);
}

struct profile *report_average(const struct profile *const *profiles, const uint64_t *weights, size_t count)
{
	struct averaging a = { profile_new() };
	uint32_t **nodes = xcalloc(count + 1, sizeof(*nodes));
	wide_int by = 0;

	for (size_t i = 0; i < count; i++) {
		assert(weights[i] <= REPORT_WEIGHT_MAX);
		by += weights[i];
		describe(a.all, profiles[i]);
		profile_keep_lines(a.all, profiles[i]->keeps_lines);
		nodes[i] = xcalloc(profiles[i]->node_count, sizeof(**nodes));
		add_nodes(&a, profiles[i], nodes[i]);
	}
	for (uint32_t c = 0; c < a.all->column_count; c++)
		a.sums[c] = xcalloc(a.all->node_count, sizeof(**a.sums));
	for (size_t i = 0; i < count; i++) {
		add_sums(&a, profiles[i], nodes[i], weights[i]);
		free(nodes[i]);
	}
	free(nodes);
	for (uint32_t c = 0; c < a.all->column_count; c++) {
		if (by)
			divide(&a, c, by);
		free(a.sums[c]);
	}
	average_edges(a.all, profiles, weights, count, by);
	return a.all;
}
