/* page_file.c: writes the data that the script of a page in a file cannot derive from the tree.
 *
 *	columns		each value: name, unit, sums, and the columns of the tree that it is computed from
 *	groups		for each grouping but that by function: names, and the name of each frame
 *	own		whether a frame is own code
 *	tables		if the tree does not determine them: functions with their values, by grouping; see put_tables
 *	around		the same of callers and callees
 */

#include "page_file.h"

#include "at_most_json.h"
#include "diff_report.h"
#include "difference.h"
#include "edges.h"
#include "mem.h"
#include "report.h"

#include <stddef.h>
#include <string.h>

#define AROUND_MOST	200000000u	/* functions × pairs: more would take seconds */

static const enum report_by groupings[] = { REPORT_BY_CLASS, REPORT_BY_NAMESPACE, REPORT_BY_FILE, REPORT_BY_PACKAGE };

/* Facts of one page. */
struct facts {
	const struct profile *p;
	const struct flamegraph_options *o;
	const uint32_t *columns;	/* columns of the tree */
	uint32_t column_count, chosen;	/* number of columns; the selected metric */
	const struct page_comparison *comparison;	/* NULL: there is none */
	const struct diff *around;	/* the metric of a comparison that gets callers and callees; else NULL */
	uint32_t measured[PROFILE_COLUMNS / 2];		/* by metric: column of the measured value before; 0: none */
};

/* --- Columns --- */

static void put_column(struct json *j, const char *name, const char *unit, int64_t total, int64_t whole)
{
	json_open_object(j);
	json_key(j, "name");
	json_str(j, name);
	json_key(j, "unit");
	json_str(j, unit);
	json_key(j, "total");
	json_i64(j, total);
	json_key(j, "whole");
	json_i64(j, whole);
}

static void put_plain_columns(struct json *j, const struct facts *f)
{
	for (uint32_t c = 0; c < f->column_count; c++) {
		const struct profile_column *column = &f->p->columns[f->columns[c]];
		bool named = c == f->chosen && f->o->count_name, has_parts = !strcmp(column->unit, PROFILE_MILLIONTHS);

		put_column(j, named ? f->o->count_name : column->name, named && !has_parts ? "count" : column->unit,
			   report_sum(f->p, f->columns[c]), report_whole(f->p, f->columns[c]));
		json_end(j);
	}
}

/* Appends the column with the measured value before, and its scale: boxes are rounded along the tree, but values of
 * functions are not. */
static void put_measured(struct json *j, const struct facts *f, size_t metric)
{
	if (!f->measured[metric])
		return;
	json_key(j, "measured");
	json_open_array(j);
	json_u64(j, f->measured[metric]);
	json_i64(j, f->comparison->metrics[metric].diff->scaling.numerator);
	json_i64(j, f->comparison->metrics[metric].diff->scaling.denominator);
	json_end(j);
}

static void put_sides(struct json *j, const struct facts *f)
{
	for (size_t m = 0; m < f->comparison->count; m++) {
		const struct page_metric *metric = &f->comparison->metrics[m];
		const struct diff *d = metric->diff;

		put_column(j, metric->name, d->profile->columns[d->after].unit, report_sum(d->profile, d->after),
			   report_whole(d->profile, d->after));
		json_key(j, "before");
		json_i64(j, report_sum(d->profile, d->before));
		put_measured(j, f, m);
		difference_put_chance(d, j);
		json_end(j);
	}
}

static void put_columns(struct json *j, const struct facts *f)
{
	json_key(j, "columns");
	json_open_array(j);
	if (f->comparison)
		put_sides(j, f);
	else
		put_plain_columns(j, f);
	json_end(j);
	json_key(j, "column");
	json_u64(j, f->chosen);
	json_key(j, "period_ns");
	json_i64(j, f->p->mixed_periods ? 0 : f->p->period_ns);
	if (f->p->estimated) {
		json_key(j, "estimated");
		json_bool(j, true);
	}
	json_key(j, "labels");
	json_open_object(j);
	for (size_t i = 0; i < f->p->labels.count; i++) {
		json_key(j, f->p->labels.items[i].key);
		json_str(j, f->p->labels.items[i].value);
	}
	json_end(j);
	if (f->comparison) {
		json_key(j, "compared");
		json_open_object(j);
		json_key(j, "before");
		json_str(j, f->comparison->name_before);
		json_key(j, "after");
		json_str(j, f->comparison->name_after);
		json_key(j, "factor");
		json_double(j, f->comparison->metrics[f->chosen].diff->factor);
		json_end(j);
	}
}

/* --- Groups --- */

static void put_group(struct json *j, const struct profile *p, enum report_by by)
{
	_cleanup_(buf_done) struct buf name = { 0 };
	struct intern names;

	buf_init(&name);
	intern_init(&names);
	json_key(j, report_by_key(by));
	json_open_object(j);
	json_key(j, "of");
	json_open_array(j);
	for (uint32_t f = 0; f < p->frame_count; f++) {
		buf_reset(&name);
		report_group_name(p, f, by, &name);
		json_u64(j, intern_add(&names, name.data, name.size));
	}
	json_end(j);
	json_key(j, "names");
	json_open_array(j);
	for (size_t i = 0; i < names.count; i++)
		json_bytes(j, intern_get(&names, (uint32_t)i));
	json_end(j);
	json_end(j);
	intern_done(&names);
}

static void put_groups(struct json *j, const struct profile *p)
{
	_cleanup_(freep) bool *own = report_own_frames(p);

	json_key(j, "groups");
	json_open_object(j);
	for (size_t i = 0; i < ARRAY_SIZE(groupings); i++)
		put_group(j, p, groupings[i]);
	json_end(j);
	json_key(j, "own");
	json_open_array(j);
	for (uint32_t f = 0; f < p->frame_count; f++)
		json_u64(j, own[f]);
	json_end(j);
}

/* --- Tables --- */

struct rows {
	const struct profile *p;
	const uint32_t *frames;
	size_t count;
};

static void put_frames(struct json *j, const struct rows *r)
{
	json_key(j, "count");
	json_u64(j, r->count);
	json_key(j, "name");
	json_open_array(j);
	for (size_t i = 0; i < r->count; i++)
		json_bytes(j, profile_name(r->p, r->frames[i]));
	json_end(j);
	json_key(j, "file");
	json_open_array(j);
	for (size_t i = 0; i < r->count; i++)
		json_bytes(j, profile_file(r->p, r->frames[i]));
	json_end(j);
	json_key(j, "line");
	json_open_array(j);
	for (size_t i = 0; i < r->count; i++)
		json_u64(j, r->p->frames[r->frames[i]].line);
	json_end(j);
}

static void put_wide_values(struct json *j, const struct facts *f, const struct wide_row *rows, size_t count, bool total)
{
	json_key(j, total ? "total" : "self");
	json_open_array(j);
	for (uint32_t c = 0; c < f->column_count; c++) {
		json_open_array(j);
		for (size_t i = 0; i < count; i++)
			json_i64(j, (total ? rows[i].total : rows[i].self)[f->columns[c]]);
		json_end(j);
	}
	json_end(j);
}

static void put_wide(struct json *j, const struct facts *f, const struct profile *p)
{
	size_t count;
	_cleanup_(freep) struct wide_row *rows = report_wide(p, f->columns[f->chosen], false, &count);
	_cleanup_(freep) uint32_t *frames = xcalloc(count + 1, sizeof(*frames));

	for (size_t i = 0; i < count; i++)
		frames[i] = rows[i].frame;
	json_open_object(j);
	json_key(j, "wholes");
	json_open_array(j);
	for (uint32_t c = 0; c < f->column_count; c++)
		json_i64(j, report_whole(p, f->columns[c]));
	json_end(j);
	put_frames(j, &(struct rows){ p, frames, count });
	put_wide_values(j, f, rows, count, false);
	put_wide_values(j, f, rows, count, true);
	at_most_put_json(j, rows, count, sizeof(*rows), offsetof(struct wide_row, at_most));
	json_end(j);
}

static void put_diff_values(struct json *j, const struct diff_report *r, bool total)
{
	json_key(j, total ? "total" : "self");
	json_open_array(j);
	for (int after = 0; after < 2; after++) {
		json_open_array(j);
		for (size_t i = 0; i < r->count; i++) {
			const struct diff_cell *c = total ? &r->rows[i].total : &r->rows[i].self;

			json_i64(j, after ? c->after : c->before);
		}
		json_end(j);
	}
	json_end(j);
	if (r->diff->measured != r->diff->before) {
		json_key(j, total ? "total_measured" : "self_measured");
		json_open_array(j);
		for (size_t i = 0; i < r->count; i++)
			json_i64(j, total ? r->rows[i].total_measured : r->rows[i].self_measured);
		json_end(j);
	}
	json_key(j, total ? "total_changed" : "self_changed");
	json_open_array(j);
	for (size_t i = 0; i < r->count; i++)
		if (total ? r->rows[i].total.changed : r->rows[i].self.changed)
			json_u64(j, i);
	json_end(j);
}

static void put_diff(struct json *j, const struct page_metric *m, const struct page_comparison *c, const struct profile *p)
{
	struct diff d = *m->diff;
	struct diff_report_options o = {
		.name_before = c->name_before, .name_after = c->name_after, .column = m->name, .compared = "", .all = true,
	};
	_cleanup_(diff_report_done) struct diff_report r = { 0 };
	_cleanup_(freep) uint32_t *frames = NULL;

	d.profile = (struct profile *)p;
	diff_report_init(&r, &d, &o);
	frames = xcalloc(r.count + 1, sizeof(*frames));
	for (size_t i = 0; i < r.count; i++)
		frames[i] = r.rows[i].frame;
	json_open_object(j);
	put_frames(j, &(struct rows){ p, frames, r.count });
	json_key(j, "whole");
	json_open_array(j);
	json_i64(j, r.before);
	json_i64(j, r.after);
	json_end(j);
	if (d.measured != d.before) {
		json_key(j, "whole_measured");
		json_i64(j, r.whole_measured);
	}
	put_diff_values(j, &r, false);
	put_diff_values(j, &r, true);
	at_most_put_json(j, r.rows, r.count, sizeof(*r.rows), offsetof(struct diff_row, total.at_most));
	json_end(j);
}

/* --- Callers and callees --- */

/* Appends both sides of a comparison. Scaled values before come from the measured ones, since sums of rounded values
 * are inexact. */
static void put_values(struct json *j, const struct facts *f, const int64_t *values)
{
	const struct diff *d = f->around;

	json_open_array(j);
	if (d) {
		json_i64(j, d->measured == d->before ? values[d->before] : profile_scaled(&d->scaling, values[d->measured]));
		json_i64(j, values[d->after]);
	}
	for (uint32_t c = 0; c < f->column_count && !d; c++)
		json_i64(j, values[f->columns[c]]);
	json_end(j);
}

/* Appends [frame or -1, values, at most, measured before if scaled] for each edge. */
static void put_edges(struct json *j, const struct facts *f, const struct report_edges *e)
{
	const struct diff *d = f->around;

	json_open_array(j);
	for (size_t i = 0; i < e->count; i++) {
		json_open_array(j);
		json_i64(j, e->edges[i].frame == REPORT_NO_CALLER ? -1 : (int64_t)e->edges[i].frame);
		put_values(j, f, e->edges[i].values);
		json_u64(j, e->edges[i].at_most);
		if (d && d->measured != d->before)
			json_i64(j, e->edges[i].values[d->measured]);
		json_end(j);
	}
	json_end(j);
}

static void put_one_around(struct json *j, const struct facts *f, const struct profile *p, const bool *of)
{
	const struct diff *d = f->around;
	uint32_t column = d ? d->after : f->columns[f->chosen];
	_cleanup_(report_edges_done) struct report_edges callers = { 0 }, callees = { 0 };

	report_edges(p, of, REPORT_CALLERS, column, &callers);
	report_edges(p, of, REPORT_CALLEES, column, &callees);
	json_open_object(j);
	json_key(j, "again");
	put_values(j, f, callees.again);
	json_key(j, "self");
	put_values(j, f, callees.self);
	json_key(j, "total");
	put_values(j, f, callees.total);
	json_key(j, "at_most");
	json_bool(j, callees.total_at_most);
	if (d && d->measured != d->before) {
		json_key(j, "self_measured");
		json_i64(j, callees.self[d->measured]);
		json_key(j, "total_measured");
		json_i64(j, callees.total[d->measured]);
	}
	json_key(j, "callers");
	put_edges(j, f, &callers);
	json_key(j, "callees");
	put_edges(j, f, &callees);
	json_end(j);
}

/* Frames with the same name are one function. */
static void mark_name(const struct profile *p, uint32_t frame, bool *of, bool value)
{
	for (uint32_t g = 0; g < p->frame_count; g++)
		if (p->frames[g].name == p->frames[frame].name)
			of[g] = value;
}

/* Uses the first frame with a name; frames of edges have indices of `p`, whose names and places are listed
 * separately. */
static void put_around(struct json *j, const struct facts *f, const struct profile *p)
{
	_cleanup_(freep) bool *of = xcalloc((size_t)p->frame_count + 1, sizeof(*of)), *done = xcalloc((size_t)p->frame_count + 1, sizeof(*done));
	_cleanup_(freep) uint32_t *frames = xcalloc((size_t)p->frame_count + 1, sizeof(*frames));

	for (uint32_t g = 0; g < p->frame_count; g++)
		frames[g] = g;
	json_open_object(j);
	put_frames(j, &(struct rows){ p, frames, p->frame_count });
	json_key(j, "functions");
	json_open_array(j);
	for (uint32_t g = 0; g < p->frame_count; g++) {
		if (done[g]) {
			json_u64(j, 0);
			continue;
		}
		mark_name(p, g, done, true);
		mark_name(p, g, of, true);
		put_one_around(j, f, p, of);
		mark_name(p, g, of, false);
	}
	json_end(j);
	json_end(j);
}

/* --- The groupings of both --- */

struct grouped {
	struct profile *made;		/* NULL: by function */
	const struct profile *p;
	const char *key;
};

static struct grouped group(const struct profile *p, size_t i)
{
	struct grouped g = { .p = p, .key = "function" };

	if (i > 0) {
		g.made = report_group(p, groupings[i - 1]);
		g.p = g.made;
		g.key = report_by_key(groupings[i - 1]);
	}
	return g;
}

/* For profiles of caller-callee pairs, whose tree is an estimate. */
static void put_pairs_tables(struct json *j, const struct facts *f)
{
	json_key(j, "tables");
	json_open_object(j);
	for (size_t i = 0; i <= ARRAY_SIZE(groupings); i++) {
		struct grouped g = group(f->p, i);

		json_key(j, g.key);
		put_wide(j, f, g.p);
		profile_free(g.made);
	}
	json_end(j);
	json_key(j, "around");
	json_open_object(j);
	for (size_t i = 0; i <= ARRAY_SIZE(groupings); i++) {
		struct grouped g = group(f->p, i);

		if ((uint64_t)g.p->frame_count * g.p->edges->pair_count <= AROUND_MOST) {
			json_key(j, g.key);
			put_around(j, f, g.p);
		}
		profile_free(g.made);
	}
	json_end(j);
}

/* Marks changes larger than the noise, in one table per metric. */
static void put_diff_tables(struct json *j, const struct facts *f)
{
	json_key(j, "tables");
	json_open_object(j);
	for (size_t i = 0; i <= ARRAY_SIZE(groupings) + 1; i++) {
		enum report_by by = i == 0 ? REPORT_BY_FUNCTION : i > ARRAY_SIZE(groupings) ? REPORT_BY_OWN : groupings[i - 1];

		json_key(j, report_by_key(by));
		json_open_array(j);
		for (size_t m = 0; m < f->comparison->count; m++) {
			const struct profile *p = f->comparison->metrics[m].diff->profile;
			struct profile *made = by == REPORT_BY_FUNCTION ? NULL : report_group(p, by);

			put_diff(j, &f->comparison->metrics[m], f->comparison, made ? made : p);
			profile_free(made);
		}
		json_end(j);
	}
	json_end(j);
}

static bool is_neighborhood_small(const struct page_comparison *c, const struct profile *p)
{
	return p->edges && (uint64_t)p->frame_count * p->edges->pair_count * c->count <= AROUND_MOST;
}

/* Appends one list per metric; nothing for measured trees, from which the page computes it. */
static void put_diff_around(struct json *j, const struct facts *f)
{
	struct facts one = *f;

	json_key(j, "around");
	json_open_object(j);
	for (size_t i = 0; i <= ARRAY_SIZE(groupings); i++) {
		json_key(j, i ? report_by_key(groupings[i - 1]) : "function");
		json_open_array(j);
		for (size_t m = 0; m < f->comparison->count; m++) {
			struct grouped g = group(f->comparison->metrics[m].diff->profile, i);

			one.around = f->comparison->metrics[m].diff;
			if (is_neighborhood_small(f->comparison, g.p))
				put_around(j, &one, g.p);
			else
				json_u64(j, 0);
			profile_free(g.made);
		}
		json_end(j);
	}
	json_end(j);
}

/* If groups replace functions, as in the daemon's answer to by=class, they cannot be regrouped. */
static void put_grouping(struct json *j, const struct labels *labels)
{
	const char *key = labels ? labels_get(labels, "grouped") : NULL;
	enum report_by by;

	if (!key || !report_by_parse(key, &by) || by == REPORT_BY_FUNCTION || by == REPORT_BY_OWN)
		return;
	json_key(j, "grouped");
	json_str(j, report_by_key(by));
}

static void put_facts(struct json *j, const void *data)
{
	const struct facts *f = data;

	put_columns(j, f);
	put_grouping(j, f->comparison ? f->comparison->labels : &f->p->labels);
	put_groups(j, f->p);
	if (f->comparison) {
		put_diff_tables(j, f);
		put_diff_around(j, f);
	} else if (f->p->edges && f->o->before_column == UINT32_MAX) {
		put_pairs_tables(j, f);
	}
}

/* --- Pages --- */

static bool is_shown(const struct profile *p, uint32_t c, const struct flamegraph_options *o)
{
	if (c == o->column)
		return true;
	for (uint32_t n = 0; n < p->node_count; n++)
		if (p->columns[c].self[n])
			return true;
	return false;
}

static int put_lines_with_two_counts(const struct profile *p, const struct flamegraph_options *o, struct buf *out, struct err *err)
{
	struct diff d = { .profile = (struct profile *)p, .before = o->before_column, .after = o->column, .measured = o->before_column,
			  .factor = 1 };
	const char *unit = p->columns[o->column].unit;
	const struct page_metric metric = {
		&d, o->count_name ? o->count_name : !strcmp(unit, "nanoseconds") ? "time" : !strcmp(unit, "bytes") ? "memory" : "samples"
	};
	const struct page_comparison c = { .metrics = &metric, .count = 1, .name_before = "before", .name_after = "after" };

	return page_file_put_difference(&c, o, out, err);
}

/* Returns the profile with derived columns; NULL if there are none. */
static struct profile *with_columns(const struct profile *p)
{
	struct profile *more = profile_new();

	profile_keep_chart(more, true);
	profile_merge(more, p);
	profile_add_time(more);
	profile_add_off_cpu(more);
	return more->column_count > p->column_count ? more : profile_free(more);
}

int page_file_put(const struct profile *given, const struct flamegraph_options *o, struct buf *out, struct err *err)
{
	_cleanup_(profile_freep) struct profile *more = o->before_column == UINT32_MAX ? with_columns(given) : NULL;
	const struct profile *p = more ? more : given;
	uint32_t columns[PROFILE_COLUMNS];
	struct facts f = { .p = p, .o = o, .columns = columns };
	struct flamegraph_page page = { .columns = columns, .put = put_facts, .data = &f };

	if (o->column >= p->column_count)
		return flamegraph_html(p, o, NULL, out, err);
	if (o->before_column != UINT32_MAX)
		return put_lines_with_two_counts(p, o, out, err);
	for (uint32_t c = 0; c < p->column_count; c++)
		if (is_shown(p, c, o)) {
			f.chosen = c == o->column ? f.column_count : f.chosen;
			columns[f.column_count++] = c;
		}
	page.column_count = f.column_count;
	page.shown = f.chosen;
	return flamegraph_html(p, o, &page, out, err);
}

/* Adds the measured value before of each scaled metric, until the profile has no room for columns. */
static void choose_measured(struct facts *f)
{
	uint32_t n = 2 * (uint32_t)f->comparison->count;

	for (size_t i = 0; i < f->comparison->count && n < PROFILE_COLUMNS; i++) {
		size_t m = i == 0 ? f->chosen : i <= f->chosen ? i - 1 : i;
		const struct diff *d = f->comparison->metrics[m].diff;

		if (d->measured != d->before)
			f->measured[m] = n++;
	}
	f->column_count = n;
}

/* Returns the column of the metric's own profile that becomes `column` of the page; UINT32_MAX if that belongs to
 * another metric. */
static uint32_t source_of(const struct facts *f, size_t metric, uint32_t column)
{
	const struct diff *d = f->comparison->metrics[metric].diff;

	return column == 2 * metric ? d->before : column == 2 * metric + 1 ? d->after :
	       column && column == f->measured[metric] ? d->measured : UINT32_MAX;
}

static void add_side(struct profile *all, const struct facts *f, size_t metric, uint32_t *columns)
{
	const struct profile *p = f->comparison->metrics[metric].diff->profile;
	_cleanup_(freep) uint32_t *nodes = xcalloc(p->node_count, sizeof(*nodes));
	uint32_t from[PROFILE_COLUMNS];

	for (uint32_t c = 0; c < f->column_count; c++)
		from[c] = source_of(f, metric, c);
	for (uint32_t n = 0; n < p->node_count; n++) {
		uint32_t frame = n ? p->node_frames[n] : 0;

		if (n)
			nodes[n] = profile_child(all, nodes[p->parents[n]], profile_frame(all, profile_name(p, frame), profile_file(p, frame), p->frames[frame].line));
		for (uint32_t c = 0; c < f->column_count; c++)
			if (from[c] != UINT32_MAX)
				profile_add(all, nodes[n], columns[c], p->columns[from[c]].self[n]);
	}
	all->estimated |= p->estimated;
}

/* Merges the profiles of all metrics into one with the columns of each. */
static struct profile *merge_sides(const struct facts *f, uint32_t *columns)
{
	struct profile *all = profile_new();
	char name[80];

	for (uint32_t c = 0; c < f->column_count; c++)
		for (size_t m = 0; m < f->comparison->count; m++) {
			const struct page_metric *metric = &f->comparison->metrics[m];
			uint32_t from = source_of(f, m, c);

			if (from == UINT32_MAX)
				continue;
			snprintf(name, sizeof(name), "%s %.50s", c == 2 * m ? "before" : c == 2 * m + 1 ? "after" : "measured", metric->name);
			columns[c] = profile_column(all, name, metric->diff->profile->columns[from].unit);
		}
	for (size_t m = 0; m < f->comparison->count; m++) {
		if (f->measured[m]) {
			all->columns[columns[2 * m]].scaling = f->comparison->metrics[m].diff->scaling;
			all->columns[columns[2 * m]].scaling.from = columns[f->measured[m]];
		}
		add_side(all, f, m, columns);
	}
	return all;
}

int page_file_put_difference(const struct page_comparison *c, const struct flamegraph_options *o, struct buf *out, struct err *err)
{
	uint32_t columns[PROFILE_COLUMNS];
	_cleanup_(profile_freep) struct profile *all = NULL;
	const struct diff *shown = c->metrics[c->shown].diff;
	struct flamegraph_options drawing = *o;
	struct facts f = { .o = &drawing, .columns = columns, .chosen = (uint32_t)c->shown, .comparison = c };
	struct flamegraph_page page = { .columns = columns, .put = put_facts, .data = &f };

	choose_measured(&f);
	if (c->count > 1)
		all = merge_sides(&f, columns);
	for (uint32_t i = 0; i < f.column_count && !all; i++)
		columns[i] = source_of(&f, 0, i);
	f.p = all ? all : shown->profile;
	page.column_count = f.column_count;
	page.shown = 2 * (uint32_t)c->shown + 1;
	drawing.compared = shown;
	drawing.before_column = columns[2 * c->shown];
	drawing.column = columns[2 * c->shown + 1];
	return flamegraph_html(f.p, &drawing, &page, out, err);
}
