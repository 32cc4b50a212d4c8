/* profile_query.c: reads parameters, and loads the profile of a range, of runs or of a comparison. */

#include "profile_query.h"

#include "mem.h"
#include "runs.h"
#include "saturate.h"
#include "source_query.h"
#include "stack_filters.h"
#include "strobe_wire.h"

#include <assert.h>
#include <string.h>

int profile_query_parse(struct profile_query *a, const struct request *q, struct err *err)
{
	int r;

	memset(a, 0, sizeof(*a));
	arena_init(&a->view.bytes);
	r = params_parse(&a->params, q->query, err);
	if (r < 0)
		return r;
	return view_parse(&a->view, &a->params, q->now_ns, err);
}

int profile_query_parse_range(struct profile_query *a, const struct request *q, struct err *err)
{
	int r = profile_query_parse(a, q, err);

	return r < 0 || !a->view.run_count ? r :
					     err_set(err, -EINVAL, "run= does not apply to this address, which is about samples in a time range");
}

void profile_query_take_after(struct profile_query *a)
{
	a->view.has_base = a->view.has_base_labels = false;
	a->is_after = true;
}

/* --- Loading --- */

/* Whether lines were requested, or accompany a result that is complete without them. */
static bool needs_lines(const struct profile_query *a)
{
	return a->lines || a->view.by == REPORT_BY_LINE;
}

static bool likes_lines(const struct profile_query *a)
{
	return a->with_source && !a->lines_left_out;
}

static int load_range(struct profile_query *a, const struct server_context *s, struct store_query query, struct store_query_stats *stats,
		      struct profile **ret, struct err *err)
{
	int r;

	query.max_nodes = a->view.has_base ? s->max_nodes / 2 : s->max_nodes;
	query.refuse_above = a->view.has_base ? s->refuse_above / 2 : s->refuse_above;
	query.lines = needs_lines(a) || likes_lines(a);
	r = store_query(s->options.store, &query, ret, stats, err);
	if (r < 0 || !stats->pruned || needs_lines(a) || !query.lines)
		return r;
	profile_free(*ret);
	a->lines_left_out = true;
	*stats = (struct store_query_stats){ 0 };
	query.lines = false;
	return store_query(s->options.store, &query, ret, stats, err);
}

static void note_pruned(struct profile_query *a, struct profile *p, const char *wanted)
{
	uint32_t column = profile_pick_column(p, wanted);

	a->pruned_runs = true;
	if (column == UINT32_MAX)
		return;
	saturating_add(&a->pruned_sum, run_pruned_sum(p, column));
	saturating_add(&a->pruned_of, profile_sum(p, column));
}

static int load_run(struct profile_query *a, const struct server_context *s, const struct view_run *run, struct profile **ret, struct err *err)
{
	size_t loaded = a->view.run_count + a->view.has_base;
	struct store_profile_limits most = { .nodes = s->max_nodes ? s->max_nodes / (uint32_t)loaded + 1 : 0, .column = a->view.column, .chart = a->chart && loaded == 1, .lines = needs_lines(a) || likes_lines(a) };
	int r = store_get_run(s->options.store, run->source, run->id, &most, &a->runs[a->run_count], ret, err);

	if (r > 0 && most.lines && !needs_lines(a)) {
		profile_free(*ret);
		store_run_done(&a->runs[a->run_count]);
		a->lines_left_out = true;
		most.lines = false;
		r = store_get_run(s->options.store, run->source, run->id, &most, &a->runs[a->run_count], ret, err);
	}
	if (r < 0)
		return r;
	a->run_count++;
	if (loaded == 1)
		a->charted_calls = (*ret)->charted_calls;
	run_add_columns(*ret);
	if (r > 0)
		note_pruned(a, *ret, a->view.column);
	return 0;
}

static void note_unmeasured(struct profile_query *a, struct profile *const *profiles, const uint64_t *weights)
{
	_cleanup_(buf_done) struct buf b = { 0 };

	buf_init(&b);
	report_average_lacks((const struct profile *const *)profiles, weights, a->view.run_count, &b);
	snprintf(a->unmeasured, sizeof(a->unmeasured), "%.*s", (int)b.size, b.size ? b.data : "");
}

/* Labels the average, so that files made from the answer identify it. If the list of runs is too long for a label,
 * their number is stored. */
static void label_average(struct profile *p, const struct view *v)
{
	static const char more[] = "; and 32 more";
	_cleanup_(buf_done) struct buf b = { 0 }, one = { 0 };

	buf_init(&b);
	buf_init(&one);
	for (size_t i = 0; i < v->run_count; i++) {
		buf_reset(&one);
		buf_printf(&one, "%s%s/%s", i ? "; " : "", v->runs[i].source, v->runs[i].id);
		view_put_weight(v, i, &one);
		if (b.size + one.size > STROBE_WIRE_LABEL_VALUE - strlen(more)) {
			buf_printf(&b, "; and %zu more", v->run_count - i);
			break;
		}
		buf_put(&b, one.data, one.size);
	}
	labels_set(&p->labels, "average", strlen("average"), b.data, b.size);
}

static int load_average(struct profile_query *a, const struct server_context *s, struct profile **ret, struct err *err)
{
	struct profile *profiles[VIEW_RUNS_MAX] = { NULL };
	uint64_t weights[VIEW_RUNS_MAX];
	int r = 0;

	for (size_t i = 0; r >= 0 && i < a->view.run_count; i++) {
		r = load_run(a, s, &a->view.runs[i], &profiles[i], err);
		weights[i] = a->view.runs[i].weight;
	}
	if (r >= 0)
		r = report_average_check((const struct profile *const *)profiles, weights, a->view.run_count, err);
	if (r >= 0) {
		*ret = report_average((const struct profile *const *)profiles, weights, a->view.run_count);
		label_average(*ret, &a->view);
		note_unmeasured(a, profiles, weights);
	}
	for (size_t i = 0; i < a->view.run_count; i++)
		profile_free(profiles[i]);
	return r;
}

static int load(struct profile_query *a, const struct server_context *s, struct profile **ret, struct err *err)
{
	if (a->view.run_count == 0)
		return load_range(a, s, view_query(&a->view), &a->stats, ret, err);
	return a->view.run_count == 1 ? load_run(a, s, &a->view.runs[0], ret, err) : load_average(a, s, ret, err);
}

static int load_base(struct profile_query *a, const struct server_context *s, struct profile **ret, struct err *err)
{
	struct store_query_stats stats = { 0 };
	int r;

	if (*a->view.base_run.id)
		return load_run(a, s, &a->view.base_run, ret, err);
	r = load_range(a, s, view_base_query(&a->view), &stats, ret, err);
	a->stats.damaged_days += stats.damaged_days;
	if (stats.pruned) {
		a->stats.pruned = true;
		a->stats.pruned_samples += stats.pruned_samples;
		a->stats.samples += stats.samples;
	}
	return r;
}

static bool is_empty_selection(const struct profile *p, const char *wanted)
{
	uint32_t column = p->column_count ? profile_pick_column(p, wanted) : UINT32_MAX;

	return column == UINT32_MAX || report_whole(p, column) <= 0;
}

/* Calls of a flame chart are shown one by one, and have no stacks that could be filtered. */
static int filter_stacks(struct profile_query *a, struct profile **before, struct err *err)
{
	int r;

	if (!a->view.stack_filter_count || a->is_chart)
		return 0;
	if (*before) {
		a->outline = diff_outline(a->profile);
		a->outline_before = diff_outline(*before);
	}
	a->left_nothing = !is_empty_selection(a->profile, a->view.column);
	a->left_nothing_before = *before && !is_empty_selection(*before, a->view.column);
	r = stack_filters_apply(&a->view, &a->profile, before, err);
	if (r < 0)
		return r;
	a->left_nothing &= a->profile->node_count == 1;
	a->left_nothing_before &= *before && (*before)->node_count == 1;
	return 0;
}

/* Without another grouping, names remain those of functions. */
static void group(const struct profile_query *a, struct profile **p)
{
	struct profile *grouped;

	if (a->view.by == REPORT_BY_FUNCTION)
		return;
	grouped = report_group(*p, a->view.by);
	profile_free(*p);
	*p = grouped;
}

/* Labels files made from the answer: they have only these groups, and no other value to compare. */
static void label_answer(const struct profile_query *a)
{
	const char *key = report_by_key(a->view.by);

	if (a->view.by != REPORT_BY_FUNCTION)
		labels_set(&a->profile->labels, "grouped", strlen("grouped"), key, strlen(key));
	if (a->is_diff && a->profile->columns[a->column].counts_calls)
		labels_set(&a->profile->labels, "compared", strlen("compared"), "calls", strlen("calls"));
}

/* --- Columns --- */

static void list_column(struct profile_query *a, const struct profile *p, uint32_t c, int64_t before)
{
	struct profile_query_column *to = &a->columns[a->column_count++];

	*to = (struct profile_query_column){ .total = report_sum(p, c), .whole = report_whole(p, c), .before = before };
	snprintf(to->name, sizeof(to->name), "%s", p->columns[c].name);
	snprintf(to->unit, sizeof(to->unit), "%s", p->columns[c].unit);
}

static int refuse_column(const struct profile_query *a, const struct profile *p, struct err *err)
{
	assert(a->view.column);
	_cleanup_(buf_done) struct buf names = { 0 };

	buf_init(&names);
	for (uint32_t i = 0; i < p->column_count; i++)
		buf_printf(&names, "%s%s", i ? ", " : "", p->columns[i].name);
	return err_set(err, -EINVAL, "column=%.80s: %s no such column; %s %s", a->view.column,
		       a->view.run_count ? "this run has" : "these samples have", a->view.run_count ? "it has" : "they have",
		       names.size ? names.data : "none");
}

static int choose_column(struct profile_query *a, struct err *err)
{
	struct profile *p = a->profile;

	a->before = UINT32_MAX;
	/* Nothing matched. Views rely on a column, and "empty" explains more than "no such column". */
	if (p->column_count == 0)
		profile_column(p, "samples", "count");
	else
		a->column = profile_pick_column(p, a->view.column);
	if (a->column == UINT32_MAX)
		return refuse_column(a, p, err);
	for (uint32_t c = 0; c < p->column_count; c++)
		list_column(a, p, c, 0);
	a->chosen = a->column;
	a->total = a->columns[a->chosen].total;
	a->whole = a->columns[a->chosen].whole;
	return 0;
}

/* --- Comparisons --- */

static void name_range(const struct store_query *q, bool with_labels, char *ret, size_t size)
{
	_cleanup_(buf_done) struct buf labels = { 0 };
	char from[32], to[32];

	buf_init(&labels);
	if (with_labels)
		view_describe_filters(q->filters, q->filter_count, &labels);
	clock_format(q->from_ns, from, sizeof(from));
	clock_format(q->to_ns, to, sizeof(to));
	snprintf(ret, size, "%.80s%s%s to %s", labels.data, labels.size ? ", " : "", from, to);
}

static void name_side(const struct view_run *run, size_t runs, const struct store_query *q, bool with_labels, char *ret,
		      size_t size)
{
	if (runs > 1)
		snprintf(ret, size, "%zu runs, averaged", runs);
	else if (runs)
		snprintf(ret, size, "run %s/%s", run->source, run->id);
	else
		name_range(q, with_labels, ret, size);
}

static void name_sides(struct profile_query *a)
{
	const struct view *v = &a->view;
	struct store_query after = view_query(v), before = view_base_query(v);

	name_side(&v->runs[0], v->run_count, &after, v->has_base_labels, a->name_after, sizeof(a->name_after));
	name_side(&v->base_run, *v->base_run.id != 0, &before, v->has_base_labels, a->name_before, sizeof(a->name_before));
}

static void list_common_columns(struct profile_query *a, const struct profile *before, const struct profile *after)
{
	for (uint32_t c = 0; c < after->column_count; c++) {
		uint32_t other = profile_find_column(before, after->columns[c].name);

		if (other != UINT32_MAX)
			list_column(a, after, c, report_sum(before, other));
	}
}

static int check_sides(struct profile_query *a, const struct profile *before, uint32_t column_before, uint32_t column_after,
		       enum diff_scale scale, struct err *err)
{
	diff_check(before, column_before, a->name_before, a->profile, column_after, a->name_after, scale, &a->warnings);
	for (size_t i = 0; i < a->warnings.count; i++)
		if (a->warnings.items[i].fatal)
			return err_set(err, -EINVAL, "these cannot be compared: %s", a->warnings.items[i].text);
	return 0;
}

/* Samples are compared by shares unless requested otherwise, since two ranges never have the same number. */
static enum diff_scale choose_scale(const struct profile_query *a, const struct profile *before, const struct profile *after, uint32_t column_before,
				    uint32_t column_after)
{
	bool are_samples = diff_sample_weight(before, column_before) > 0 && diff_sample_weight(after, column_after) > 0;

	return a->view.has_scale ? a->view.scale : are_samples ? DIFF_BY_TOTAL : DIFF_AS_IT_IS;
}

static void align_columns(struct profile *before, struct profile *after)
{
	for (uint32_t c = 0; c < after->column_count; c++) {
		uint32_t other = profile_find_column(before, after->columns[c].name);

		if (other != UINT32_MAX)
			diff_align(before, other, after, c);
	}
}

/* Omits filters that both sides share. */
static void put_empty_side(const struct profile_query *a, bool is_before, struct buf *out)
{
	const struct store_query q = is_before ? view_base_query(&a->view) : view_query(&a->view);
	bool is_run = is_before ? *a->view.base_run.id != 0 : a->view.run_count != 0;

	if (!is_run && !a->view.has_base_labels && q.filter_count) {
		buf_puts(out, "of ");
		view_describe_filters(q.filters, q.filter_count, out);
		buf_putc(out, ' ');
	}
	buf_printf(out, "in %s", is_before ? a->name_before : a->name_after);
}

static int reject_empty_side(const struct profile_query *a, const struct server_context *s, bool is_before, struct err *err)
{
	_cleanup_(buf_done) struct buf why = { 0 };

	buf_init(&why);
	buf_puts(&why, "nothing to compare: no samples ");
	put_empty_side(a, is_before, &why);
	if (!a->view.run_count && a->stats.last_ns)
		profile_query_put_store(a, s, &why);
	return err_set(err, -EINVAL, "%s", why.data);
}

/* Stack filters do not change the scale; otherwise the overall change of the remaining stacks would be hidden. */
static int scale_sides(struct profile_query *a, const struct server_context *s, const struct profile *before, uint32_t column_before, uint32_t column_after,
		       enum diff_scale *ret, struct err *err)
{
	const struct profile *whole_before = a->outline_before ? a->outline_before : before, *whole_after = a->outline ? a->outline : a->profile;

	for (int scale = 0; scale <= DIFF_BY_REQUESTS; scale++)
		a->scales[scale] = diff_can_scale(whole_before, column_before, whole_after, column_after, (enum diff_scale)scale);
	*ret = choose_scale(a, whole_before, whole_after, column_before, column_after);
	if (*ret != DIFF_AS_IT_IS && (report_whole(whole_before, column_before) <= 0 || report_whole(whole_after, column_after) <= 0))
		return reject_empty_side(a, s, report_whole(whole_before, column_before) <= 0, err);
	return 0;
}

static int compare(struct profile_query *a, const struct server_context *s, struct profile *before, struct err *err)
{
	struct diff_options o = { .scale_key = "scale=", .whole_a = a->outline_before, .whole_b = a->outline };
	uint32_t column_before, column_after;
	const char *name;
	int r;

	name_sides(a);
	if (!before->column_count || !a->profile->column_count)
		return reject_empty_side(a, s, !before->column_count, err);
	diff_columns(before, a->profile, a->view.column, &column_before, &column_after);
	if (column_before == UINT32_MAX || column_after == UINT32_MAX)
		return refuse_column(a, column_after == UINT32_MAX ? a->profile : before, err);
	align_columns(before, a->profile);
	if (a->outline)
		align_columns(a->outline_before, a->outline);
	if ((r = scale_sides(a, s, before, column_before, column_after, &o.scale, err)) < 0 ||
	    (r = check_sides(a, before, column_before, column_after, o.scale, err)) < 0 ||
	    (r = profile_diff(before, column_before, a->profile, column_after, &o, &a->diff, err)) < 0)
		return r;
	list_common_columns(a, before, a->profile);
	name = a->profile->columns[column_after].name;
	for (uint32_t c = 0; c < a->column_count; c++)
		if (!strcmp(a->columns[c].name, name))
			a->chosen = c;
	profile_free(a->profile);
	a->profile = a->diff.profile;
	a->is_diff = true;
	a->column = a->diff.after;
	a->before = a->diff.before;
	a->total = report_sum(a->profile, a->column);
	a->whole = report_whole(a->profile, a->column);
	return 0;
}

int profile_query_load(struct profile_query *a, const struct server_context *s, struct err *err)
{
	_cleanup_(profile_freep) struct profile *before = NULL;
	int r;

	a->runs = xcalloc(a->view.run_count + 1, sizeof(*a->runs));
	if ((r = load(a, s, &a->profile, err)) < 0 || (a->view.has_base && (r = load_base(a, s, &before, err)) < 0))
		return r;
	store_missing(s->options.store, a->missing, sizeof(a->missing));
	if (!a->names_as_stored) {
		a->profile = profile_show_names(a->profile);
		before = before ? profile_show_names(before) : NULL;
	}
	if ((r = filter_stacks(a, &before, err)) < 0)
		return r;
	if (a->with_source)
		a->subject = source_query_subject(a, a->profile);
	if (a->with_source && before)
		a->subject_before = source_query_subject(a, before);
	group(a, &a->profile);
	if (before)
		group(a, &before);
	if ((r = before ? compare(a, s, before, err) : choose_column(a, err)) < 0)
		return r;
	label_answer(a);
	return 0;
}

void profile_query_done(struct profile_query *a)
{
	for (size_t i = 0; i < a->run_count; i++)
		store_run_done(&a->runs[i]);
	free(a->runs);
	profile_free(a->outline);
	profile_free(a->outline_before);
	profile_free(a->subject);
	profile_free(a->subject_before);
	if (a->is_diff)
		diff_done(&a->diff);
	else
		profile_free(a->profile);
	view_done(&a->view);
	params_done(&a->params);
}

bool profile_query_is_empty(const struct profile_query *a)
{
	return a->whole <= 0 && (!a->is_diff || report_whole(a->profile, a->before) <= 0);
}
