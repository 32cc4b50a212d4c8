/* profile_merge.c: merges profiles, and makes profiles from parts of others. */

#include "profile.h"

#include "chart.h"
#include "edges.h"
#include "mem.h"
#include "saturate.h"

#include <assert.h>
#include <string.h>

/* Maps the columns of `from` to those of the sum, UINT32_MAX if there is no room, with the multipliers of their
 * values. */
struct merged_columns {
	uint32_t number[PROFILE_COLUMNS];
	int64_t factor[PROFILE_COLUMNS];
};

static void merge_columns(struct profile *into, const struct profile *from, struct merged_columns *to)
{
	for (uint32_t i = 0; i < from->column_count; i++) {
		uint32_t column = to->number[i] = profile_column_like(into, &from->columns[i]);

		if (column == UINT32_MAX)
			continue;
		if (profile_scale(from, i) != 1)
			profile_refine(into, column);
		assert(profile_scale(into, column) >= profile_scale(from, i));
		to->factor[i] = profile_scale(into, column) / profile_scale(from, i);
	}
}

static void add_values(struct profile *into, uint32_t to, const struct profile *from, uint32_t node,
		       const struct merged_columns *columns)
{
	for (uint32_t i = 0; i < from->column_count; i++)
		if (columns->number[i] != UINT32_MAX && from->columns[i].self[node])
			profile_add(into, to, columns->number[i],
				    saturating_product(from->columns[i].self[node], columns->factor[i]));
}

/* Returns the frames of `from` as numbers of `into`; the caller frees. */
static uint32_t *merge_frames(struct profile *into, const struct profile *from)
{
	uint32_t *frames = xmalloc((from->frame_count + 1) * sizeof(*frames));
	_cleanup_(freep) uint32_t *ids = profile_string_ids(from);

	for (uint32_t i = 0; i < from->frame_count; i++) {
		const struct profile_frame *f = &from->frames[i];
		uint32_t name = profile_copy_string(into, from, f->name, ids);

		frames[i] = profile_frame_of(into, name, profile_copy_string(into, from, f->file, ids), f->line);
	}
	return frames;
}

void profile_cover(struct profile *p, int64_t start_ns, int64_t end_ns)
{
	if (!end_ns)
		return;
	if (!p->end_ns || start_ns < p->start_ns)
		p->start_ns = start_ns;
	if (!p->end_ns || end_ns > p->end_ns)
		p->end_ns = end_ns;
}

void profile_describe(struct profile *p, int64_t period_ns, bool mixed_periods, const struct labels *labels)
{
	if (p->node_count == 1) {
		p->period_ns = period_ns;
		p->mixed_periods = mixed_periods;
		labels_copy(&p->labels, labels);
		return;
	}
	if (mixed_periods || period_ns != p->period_ns) {
		p->mixed_periods = true;
		p->period_ns = 0;
	}
	labels_keep_common(&p->labels, labels);
}

/* If one of them has edges, both get some; but an estimate that lost its own cannot provide any. */
static void prepare_edges(struct profile *into, const struct profile *from)
{
	static const struct edges_options all = { .column = UINT32_MAX };
	bool lost = (into->estimated && !into->edges) || (from->estimated && !from->edges);

	into->estimated |= from->estimated;
	if (lost)
		into->edges = edges_free(into->edges);
	else if (from->edges && !into->edges)
		into->edges = edges_of(into, &all);
}

static void merge_edges(struct profile *into, const struct profile *from, const uint32_t *frames,
			const struct merged_columns *columns)
{
	static const struct edges_options all = { .column = UINT32_MAX };
	const struct edges_places to = { columns->number, frames, columns->factor, from->column_count, false };
	struct edges *made = from->edges ? NULL : edges_of(from, &all);

	assert(from->edges || !from->estimated);		/* prepare_edges has ensured that */
	edges_add(into->edges, made ? made : from->edges, &to);
	edges_free(made);
}

void profile_merge(struct profile *into, const struct profile *from)
{
	_cleanup_(freep) uint32_t *nodes = xmalloc(from->node_count * sizeof(*nodes));
	_cleanup_(freep) uint32_t *frames = NULL;
	struct merged_columns columns;
	bool alone = into->node_count == 1;

	assert(into != from);
	prepare_edges(into, from);
	profile_cover(into, from->start_ns, from->end_ns);
	if (from->node_count > 1 || into->node_count == 1)
		profile_describe(into, from->period_ns, from->mixed_periods, &from->labels);
	merge_columns(into, from, &columns);
	frames = merge_frames(into, from);
	nodes[PROFILE_ROOT] = PROFILE_ROOT;
	add_values(into, PROFILE_ROOT, from, PROFILE_ROOT, &columns);
	for (uint32_t n = 1; n < from->node_count; n++) {
		assert(from->parents[n] < n);
		nodes[n] = profile_child_at(into, nodes[from->parents[n]], frames[from->node_frames[n]],
					    profile_line(from, n));
		add_values(into, nodes[n], from, n, &columns);
	}
	if (into->edges)
		merge_edges(into, from, frames, &columns);
	if (from->node_count > 1)
		into->chart = chart_free(into->chart);
	if (alone && from->chart && into->keeps_chart)
		into->chart = chart_copy(from->chart, into, nodes);
	if (from->node_count > 1)
		into->charted_calls = alone ? from->charted_calls : 0;
}

static void copy_facts(struct profile *to, const struct profile *from)
{
	to->start_ns = from->start_ns;
	to->end_ns = from->end_ns;
	to->period_ns = from->period_ns;
	to->mixed_periods = from->mixed_periods;
	to->estimated = from->estimated;
	labels_copy(&to->labels, &from->labels);
}

bool profile_has_values(const struct profile *p, uint32_t node)
{
	for (uint32_t i = 0; i < p->column_count; i++)
		if (p->columns[i].self[node])
			return true;
	return false;
}

bool profile_has_samples(const struct profile *p)
{
	for (uint32_t n = PROFILE_ROOT + 1; n < p->node_count; n++)
		if (profile_has_values(p, n))
			return true;
	return false;
}

void profile_add_node(struct profile *to, uint32_t to_node, const struct profile *from, uint32_t node)
{
	assert(to->column_count == from->column_count);
	for (uint32_t i = 0; i < from->column_count; i++)
		if (from->columns[i].self[node])
			profile_add(to, to_node, i, from->columns[i].self[node]);
}

void profile_drop_unused_lines(struct profile *p)
{
	_cleanup_(freep) bool *needed = p->node_lines ? xcalloc(p->node_count, sizeof(*needed)) : NULL;

	if (!p->node_lines)
		return;
	for (uint32_t n = p->node_count - 1; n > 0; n--) {
		if (!needed[n] && !profile_has_values(p, n))
			continue;
		if (p->node_lines[n])
			return;
		needed[p->parents[n]] = true;
	}
	free(p->node_lines);
	p->node_lines = NULL;
}

struct profile *profile_new_like(const struct profile *p)
{
	struct profile *r = profile_new();

	copy_facts(r, p);
	r->keeps_lines = p->keeps_lines;
	for (uint32_t i = 0; i < p->column_count; i++)
		r->columns[profile_column_like(r, &p->columns[i])].scaling = p->columns[i].scaling;
	for (uint32_t i = 0; i < p->frame_count; i++)
		profile_frame(r, profile_name(p, i), profile_file(p, i), p->frames[i].line);
	assert(r->frame_count == p->frame_count);
	return r;
}

struct profile *profile_filter(const struct profile *p, const bool *keep)
{
	struct profile *r = profile_new_like(p);
	_cleanup_(freep) bool *inside = xcalloc(p->node_count, sizeof(*inside));
	_cleanup_(freep) bool *needed = xcalloc(p->node_count, sizeof(*needed));
	_cleanup_(freep) uint32_t *nodes = xcalloc(p->node_count, sizeof(*nodes));

	for (uint32_t n = 1; n < p->node_count; n++)
		inside[n] = inside[p->parents[n]] || keep[p->node_frames[n]];
	for (uint32_t n = p->node_count - 1; n > 0; n--)
		if (needed[n] || (inside[n] && profile_has_values(p, n)))
			needed[n] = needed[p->parents[n]] = true;
	for (uint32_t n = 1; n < p->node_count; n++) {
		if (!needed[n])
			continue;
		nodes[n] = profile_append_at(r, nodes[p->parents[n]], p->node_frames[n], profile_line(p, n));
		assert(nodes[n] <= n);
		if (inside[n])
			profile_add_node(r, nodes[n], p, n);
	}
	return r;
}

/* Edges have no lines, so they stay as they are. */
struct profile *profile_without_lines(const struct profile *p)
{
	struct profile *r = profile_new();

	profile_merge(r, p);
	return r;
}
