/* average.c: the weighted average of several runs. */

#include "report.h"

#include "average.h"
#include "buf.h"
#include "err.h"
#include "mem.h"

#include <assert.h>
#include <errno.h>
#include <math.h>
#include <string.h>

/* The merged tree, still without values, and the sums of value × weight by column and node. */
struct averaging {
	struct profile *all;
	wide_int *sums[PROFILE_COLUMNS];
	uint32_t *order;		/* the nodes, grouped by function */
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
		int64_t factor = column == UINT32_MAX ? 0 : average_factor(a->all, column, p, c);

		for (uint32_t n = 0; factor && n < p->node_count; n++)
			a->sums[column][nodes[n]] += (wide_int)p->columns[c].self[n] * factor * (wide_int)weight;
	}
}

/* Groups nodes by function; the root comes first. */
static void sort_by_function(struct averaging *a)
{
	const struct profile *p = a->all;
	_cleanup_(freep) uint32_t *next = xcalloc((size_t)p->frame_count + 1, sizeof(*next));

	a->order = xmalloc(p->node_count * sizeof(*a->order));
	a->order[0] = PROFILE_ROOT;
	for (uint32_t n = 1; n < p->node_count; n++)
		next[p->node_frames[n] + 1]++;
	next[0] = 1;
	for (uint32_t f = 1; f < p->frame_count; f++)
		next[f] += next[f - 1];
	for (uint32_t n = 1; n < p->node_count; n++)
		a->order[next[p->node_frames[n]]++] = n;
}

/* Rounding errors of a node are carried to the next node of its function, so that sums per function stay exact. */
static void divide(struct averaging *a, uint32_t column, wide_int by)
{
	wide_int sum = 0, given = 0;

	for (uint32_t i = 0; i < a->all->node_count; i++) {
		uint32_t n = a->order[i];
		wide_int share;

		/* Rounding must not create values where nothing was measured. */
		sum += a->sums[column][n];
		if (!a->sums[column][n])
			continue;
		share = average_divide(sum, by) - given;
		given += share;
		profile_add(a->all, n, column, (int64_t)share);
	}
}

/* --- Columns --- */

/* Sums above this stay whole: rounding is negligible, and sums over calls fit. */
#define PARTS_MAX 1e9

static bool is_count(const struct profile_column *c)
{
	return !strcmp(c->unit, "count") || !strcmp(c->unit, PROFILE_MILLIONTHS);
}

/* Whether averages of this column can be fractions, as when one of two runs called a function. */
static bool has_parts(const struct profile_column *column, const struct profile *const *profiles, size_t count)
{
	double all = 0;

	if (count < 2 || !is_count(column))
		return false;
	for (size_t i = 0; i < count; i++) {
		uint32_t c = profile_find_column(profiles[i], column->name);

		if (c != UINT32_MAX && profile_scale(profiles[i], c) != 1)
			return true;
		for (uint32_t n = 0; c != UINT32_MAX && n < profiles[i]->node_count; n++)
			all += fabs((double)profiles[i]->columns[c].self[n]);
	}
	return all <= PARTS_MAX;
}

/* A run that lacks a column contributes nothing to its average, so the column must be in all runs. */
static bool all_have(const char *column, const struct profile *const *profiles, const uint64_t *weights, size_t count)
{
	for (size_t i = 0; i < count; i++)
		if (weights[i] && profile_find_column(profiles[i], column) == UINT32_MAX)
			return false;
	return true;
}

/* Lists the columns that some profiles lack, by name; returns 0 if none is common to all, since then all columns
 * stay. */
static uint32_t find_unmeasured(const struct profile *const *profiles, const uint64_t *weights, size_t count,
				const char *ret_without[PROFILE_COLUMNS])
{
	uint32_t without = 0, common = 0;

	for (size_t i = 0; i < count; i++)
		for (uint32_t c = 0; weights[i] && c < profiles[i]->column_count; c++) {
			const char *name = profiles[i]->columns[c].name;
			bool known = all_have(name, profiles, weights, count);

			common += known;
			for (uint32_t k = 0; k < without; k++)
				known |= !strcmp(ret_without[k], name);
			if (!known && without < PROFILE_COLUMNS)
				ret_without[without++] = name;
		}
	return common ? without : 0;
}

void report_average_lacks(const struct profile *const *profiles, const uint64_t *weights, size_t count, struct buf *out)
{
	const char *without[PROFILE_COLUMNS];
	uint32_t n = find_unmeasured(profiles, weights, count, without);

	for (uint32_t i = 0; i < n; i++)
		buf_printf(out, "%s%s", i ? ", " : "not averaged, as some runs did not measure it: ", without[i]);
}

static bool has_column(const struct profile *p, const char *column)
{
	return !p->column_count || profile_find_column(p, column) != UINT32_MAX;
}

static bool have_common(const struct profile *first, const struct profile *const *profiles, const uint64_t *weights, size_t count)
{
	for (uint32_t c = 0; c < first->column_count; c++) {
		bool all = true;

		for (size_t i = 0; i < count; i++)
			all &= !weights[i] || has_column(profiles[i], first->columns[c].name);
		if (all)
			return true;
	}
	return false;
}

int report_average_check(const struct profile *const *profiles, const uint64_t *weights, size_t count, struct err *err)
{
	for (size_t i = 0; i < count; i++) {
		if (!weights[i] || !profiles[i]->column_count)
			continue;
		return have_common(profiles[i], profiles, weights, count) ? 0 :
									    err_set(err, -EINVAL, "these have no average, because they have no value in common: one has %s, which another did not measure",
										    profiles[i]->columns[0].name);
	}
	return 0;
}

static void describe(struct profile *all, const struct profile *p)
{
	profile_describe(all, p->period_ns, p->mixed_periods, &p->labels);
	profile_cover(all, p->start_ns, p->end_ns);
}

static void add_columns(struct profile *all, const struct profile *const *profiles, const uint64_t *weights, size_t count)
{
	const char *without[PROFILE_COLUMNS];
	uint32_t left_out = find_unmeasured(profiles, weights, count, without);

	for (size_t i = 0; i < count; i++)
		for (uint32_t c = 0; c < profiles[i]->column_count; c++) {
			bool take = !left_out || all_have(profiles[i]->columns[c].name, profiles, weights, count);
			uint32_t column = take ? profile_column_like(all, &profiles[i]->columns[c]) : UINT32_MAX;

			if (column != UINT32_MAX && has_parts(&all->columns[column], profiles, count))
				profile_refine(all, column);
		}
}

/* --- Top level --- */

struct profile *report_average(const struct profile *const *profiles, const uint64_t *weights, size_t count)
{
	struct averaging a = { profile_new() };
	uint32_t **nodes = xcalloc(count + 1, sizeof(*nodes));
	wide_int by = 0;

	add_columns(a.all, profiles, weights, count);
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
	sort_by_function(&a);
	for (uint32_t c = 0; c < a.all->column_count; c++) {
		if (by)
			divide(&a, c, by);
		free(a.sums[c]);
	}
	free(a.order);
	average_edges(a.all, profiles, weights, count, by);
	return a.all;
}
