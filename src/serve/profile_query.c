/* profile_query.c: parameters, the store, and the explanation of an empty result. */

#include "profile_query.h"

#include "clock.h"
#include "difference.h"
#include "mem.h"
#include "runs.h"
#include "saturate.h"
#include "source_query.h"
#include "stack_filters.h"
#include "text.h"
#include "no_samples_reason.h"

#include <assert.h>
#include <limits.h>
#include <string.h>

#define ENTRIES_NAMED 8u	/* in the sentence for an empty answer */

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

void profile_query_take_after(struct profile_query *a)
{
	a->view.has_base = a->view.has_base_labels = false;
	a->is_after = true;
}

/* --- What it is about --- */

/* Lines that were requested, and those that only accompany a result which is complete without them. */
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

/* Files that are made of the answer say by it what they are. */
static void label_average(struct profile *p, const struct view *v)
{
	_cleanup_(buf_done) struct buf b = { 0 };

	buf_init(&b);
	for (size_t i = 0; i < v->run_count; i++) {
		buf_printf(&b, "%s%s/%s", i ? "; " : "", v->runs[i].source, v->runs[i].id);
		view_put_weight(v, i, &b);
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

static bool is_nothing(const struct profile *p, const char *wanted)
{
	uint32_t column = p->column_count ? profile_pick_column(p, wanted) : UINT32_MAX;

	return column == UINT32_MAX || report_whole(p, column) <= 0;
}

/* Calls of a flame chart stand for themselves, and have no stacks to choose from. */
static int filter_stacks(struct profile_query *a, struct profile **before, struct err *err)
{
	int r;

	if (!a->view.stack_filter_count || a->is_chart)
		return 0;
	if (*before) {
		a->outline = diff_outline(a->profile);
		a->outline_before = diff_outline(*before);
	}
	a->left_nothing = !is_nothing(a->profile, a->view.column);
	a->left_nothing_before = *before && !is_nothing(*before, a->view.column);
	r = stack_filters_apply(&a->view, &a->profile, before, err);
	if (r < 0)
		return r;
	a->left_nothing &= a->profile->node_count == 1;
	a->left_nothing_before &= *before && (*before)->node_count == 1;
	return 0;
}

/* Without another grouping the names stay those of functions. */
static void group(const struct profile_query *a, struct profile **p)
{
	struct profile *grouped;

	if (a->view.by == REPORT_BY_FUNCTION)
		return;
	grouped = report_group(*p, a->view.by);
	profile_free(*p);
	*p = grouped;
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
	/* Nothing matched. Views may rely on a column, and "empty" explains more than "no such column". */
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
	diff_check(before, column_before, a->name_before, a->profile, column_after, a->name_after, scale, &a->doubts);
	for (size_t i = 0; i < a->doubts.count; i++)
		if (a->doubts.items[i].fatal)
			return err_set(err, -EINVAL, "these cannot be compared: %s", a->doubts.items[i].text);
	return 0;
}

/* Samples are compared by their shares unless requested otherwise: two ranges never have the same number. */
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

static int refuse_nothing(const struct profile_query *a, bool is_before, struct err *err)
{
	const char *side = is_before ? a->name_before : a->name_after;
	char first[32], last[32];

	if (a->view.run_count || !a->stats.last_ns)
		return err_set(err, -EINVAL, "nothing to compare: no samples in %s", side);
	clock_format(a->stats.first_ns, first, sizeof(first));
	clock_format(a->stats.last_ns, last, sizeof(last));
	return err_set(err, -EINVAL, "nothing to compare: no samples in %s; the store holds samples "
				     "from %s to %s", side, first, last);
}

/* Filters of stacks change no scale, or they would hide what the stacks that they leave gained or lost as a whole. */
static int scale_sides(struct profile_query *a, const struct profile *before, uint32_t column_before, uint32_t column_after, enum diff_scale *ret,
		       struct err *err)
{
	const struct profile *whole_before = a->outline_before ? a->outline_before : before, *whole_after = a->outline ? a->outline : a->profile;

	for (int scale = 0; scale <= DIFF_BY_REQUESTS; scale++)
		a->scales[scale] = diff_can_scale(whole_before, column_before, whole_after, column_after, (enum diff_scale)scale);
	*ret = choose_scale(a, whole_before, whole_after, column_before, column_after);
	if (*ret != DIFF_AS_IT_IS && (report_whole(whole_before, column_before) <= 0 || report_whole(whole_after, column_after) <= 0))
		return refuse_nothing(a, report_whole(whole_before, column_before) <= 0, err);
	return 0;
}

static int compare(struct profile_query *a, struct profile *before, struct err *err)
{
	struct diff_options o = { .scale_key = "scale=", .whole_a = a->outline_before, .whole_b = a->outline };
	uint32_t column_before, column_after;
	const char *name;
	int r;

	name_sides(a);
	if (!before->column_count || !a->profile->column_count)
		return refuse_nothing(a, !before->column_count, err);
	diff_columns(before, a->profile, a->view.column, &column_before, &column_after);
	if (column_before == UINT32_MAX || column_after == UINT32_MAX)
		return refuse_column(a, column_after == UINT32_MAX ? a->profile : before, err);
	align_columns(before, a->profile);
	if (a->outline)
		align_columns(a->outline_before, a->outline);
	if ((r = scale_sides(a, before, column_before, column_after, &o.scale, err)) < 0 ||
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
	if (!before)
		return choose_column(a, err);
	group(a, &before);
	return compare(a, before, err);
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

static void describe_stack_filters(const struct view *v, struct buf *out)
{
	for (size_t i = 0; i < v->stack_filter_count; i++) {
		buf_printf(out, "%s%s ", i ? ", " : "", v->stack_filters[i].keep ? "with" : "without");
		text_put_plain(out, (struct str){ v->stack_filters[i].text, strlen(v->stack_filters[i].text) });
	}
}

void profile_query_describe(const struct profile_query *a, struct buf *out)
{
	if (a->is_diff)
		buf_printf(out, "%s compared with %s", a->name_after, a->name_before);
	else if (a->view.run_count > 1)
		buf_printf(out, "%zu runs, averaged", a->view.run_count);
	else if (a->view.run_count)
		buf_printf(out, "run %s/%s", a->view.runs[0].source, a->view.runs[0].id);
	else
		view_describe(&a->view, out);
	if (a->view.stack_filter_count) {
		buf_puts(out, ", stacks ");
		describe_stack_filters(&a->view, out);
	}
}

int query_status(int code)
{
	switch (code) {
	case -EINVAL:
		return 400;
	case -ENOENT:
		return 404;
	case -EOVERFLOW:
		return 503;
	default:
		return 500;
	}
}

void profile_query_refuse(struct response *r, const struct request *q, int code, const struct err *err)
{
	response_error(r, q, query_status(code), "%s", err->text);
	r->out_of_memory = code == -ENOMEM;
}

static void json_time(struct json *j, const char *key, int64_t ns)
{
	json_key(j, key);
	json_double(j, (double)ns / 1e9);
}

static void put_damage(uint64_t n, struct buf *out)
{
	buf_printf(out, "%llu of the selected days %s damaged, and unreadable data is missing here; the log "
			"names the file%s",
		   (unsigned long long)n, n == 1 ? "is" : "are", n == 1 ? "" : "s");
}

static void put_pruned(const struct profile_query *a, struct buf *out)
{
	buf_printf(out, "the smallest stacks, with %lld of %llu samples, are cut short at " PROFILE_PRUNED ": all of them take more "
			"memory than --query-memory allows; select a shorter range or fewer labels",
		   (long long)a->stats.pruned_samples, (unsigned long long)a->stats.samples);
}

static const char *semicolon(const struct buf *out)
{
	return out->size ? "; " : "";
}

/* Nothing if the result is complete and exact. */
static void put_warning(const struct profile_query *a, struct buf *out)
{
	if (a->stats.damaged_days)
		put_damage(a->stats.damaged_days, out);
	if (a->stats.pruned) {
		buf_puts(out, semicolon(out));
		put_pruned(a, out);
	}
	if (a->pruned_runs) {
		buf_puts(out, semicolon(out));
		run_put_pruned(a->profile, a->columns[a->chosen].name, a->pruned_sum, a->pruned_of, out);
	}
	if (*a->unmeasured)
		buf_printf(out, "%s%s", semicolon(out), a->unmeasured);
	if (*a->missing)
		buf_printf(out, "%s" STORE_MISSING, semicolon(out), a->missing);
	if (a->is_after)
		buf_printf(out, "%sthis format has no comparisons: these are the values after, and side=before has those before", semicolon(out));
	for (size_t i = 0; i < a->doubts.count; i++)
		buf_printf(out, "%s%s", semicolon(out), a->doubts.items[i].text);
}

const char *profile_query_warn(const struct profile_query *a, struct response *r)
{
	_cleanup_(buf_done) struct buf warning = { 0 };

	r->pruned = a->stats.pruned || a->pruned_runs;
	buf_init(&warning);
	put_warning(a, &warning);
	if (!warning.size)
		return NULL;
	return r->warning = arena_copy(&r->bytes, warning.data, warning.size);
}

static void put_looked(const struct profile_query *a, struct json *j)
{
	json_key(j, "looked");
	json_open_object(j);
	json_key(j, "days");
	json_u64(j, a->stats.days);
	json_key(j, "series");
	json_u64(j, a->stats.series);
	json_key(j, "series_matched");
	json_u64(j, a->stats.series_matched);
	json_key(j, "chunks");
	json_u64(j, a->stats.chunks);
	json_key(j, "samples");
	json_u64(j, a->stats.samples);
	json_time(j, "store_from", a->stats.first_ns);
	json_time(j, "store_to", a->stats.last_ns);
	json_key(j, "damaged_days");
	json_u64(j, a->stats.damaged_days);
	json_end(j);
}

static void put_runs(const struct profile_query *a, struct json *j)
{
	json_key(j, "runs");
	json_open_array(j);
	for (size_t i = 0; i < a->view.run_count && i < a->run_count; i++) {
		json_open_object(j);
		run_put_json(j, &a->runs[i]);
		json_key(j, "weight");
		json_u64(j, a->view.runs[i].weight);
		json_end(j);
	}
	json_end(j);
}

static void put_filters(struct json *j, const char *key, const struct label_filter *filters, size_t count)
{
	_cleanup_(buf_done) struct buf text = { 0 };

	buf_init(&text);
	view_describe_filters(filters, count, &text);
	json_key(j, key);
	json_str(j, text.data);
}

/* Those that can be chosen. */
static void put_scales(const struct profile_query *a, struct json *j)
{
	json_key(j, "scales");
	json_open_array(j);
	for (int scale = 0; scale <= DIFF_BY_REQUESTS; scale++)
		if (a->scales[scale])
			json_str(j, view_scale_names[scale]);
	json_end(j);
}

static void put_comparison(const struct profile_query *a, struct json *j)
{
	json_key(j, "compared");
	json_open_object(j);
	json_key(j, "before");
	json_str(j, a->name_before);
	json_key(j, "after");
	json_str(j, a->name_after);
	json_key(j, "factor");
	json_double(j, a->diff.factor);
	difference_put_chance(&a->diff, j);
	put_scales(a, j);
	if (!*a->view.base_run.id) {
		json_time(j, "before_from", a->view.base_from_ns);
		json_time(j, "before_to", a->view.base_to_ns);
	}
	if (a->view.has_base_labels) {
		put_filters(j, "before_labels", a->view.base_filters, a->view.base_filter_count);
		put_filters(j, "after_labels", a->view.filters, a->view.filter_count);
	}
	json_end(j);
}

static void put_sentence(struct json *j, const char *key, const struct buf *text)
{
	if (!text->size)
		return;
	json_key(j, key);
	json_bytes(j, (struct str){ text->data, text->size });
}

void profile_query_json_head(const struct profile_query *a, const struct server_context *s, struct json *j)
{
	_cleanup_(buf_done) struct buf text = { 0 };

	buf_init(&text);
	json_open_object(j);
	if (a->view.run_count) {
		put_runs(a, j);
	} else {
		json_time(j, "from", a->view.from_ns);
		json_time(j, "to", a->view.to_ns);
		put_looked(a, j);
	}
	if (a->is_diff)
		put_comparison(a, j);
	if (a->profile) {
		put_warning(a, &text);
		put_sentence(j, "warning", &text);
	}
	if (a->profile && profile_query_is_empty(a)) {
		buf_reset(&text);
		profile_query_explain_empty(a, s, &text);
		put_sentence(j, "empty", &text);
	}
}

void profile_query_json_columns(const struct profile_query *a, struct json *j)
{
	json_key(j, "columns");
	json_open_array(j);
	for (uint32_t c = 0; c < a->column_count; c++) {
		json_open_object(j);
		json_key(j, "name");
		json_str(j, a->columns[c].name);
		json_key(j, "unit");
		json_str(j, a->columns[c].unit);
		json_key(j, "total");
		json_i64(j, a->columns[c].total);
		json_key(j, "whole");
		json_i64(j, a->columns[c].whole);
		if (a->is_diff) {
			json_key(j, "before");
			json_i64(j, a->columns[c].before);
		}
		json_end(j);
	}
	json_end(j);
	json_key(j, "column");
	json_u64(j, a->chosen);
}

static void put_entries(const struct store_label *l, struct buf *out)
{
	buf_puts(out, ", entries: ");
	for (size_t i = 0; i < l->value_count && i < ENTRIES_NAMED; i++) {
		if (i)
			buf_puts(out, ", ");
		text_put_plain(out, (struct str){ l->values[i].value, strlen(l->values[i].value) });
	}
	if (l->value_count > ENTRIES_NAMED)
		buf_printf(out, " and %zu more", l->value_count - ENTRIES_NAMED);
}

static void put_store_entries(const struct server_context *s, const struct store_query_stats *stats, struct buf *out)
{
	struct store_query all = { .from_ns = stats->first_ns, .to_ns = stats->last_ns + BATCH_BUCKET_NS };
	struct store_labels labels = { 0 };

	if (store_labels(s->options.store, &all, &labels, NULL) < 0)
		return;
	for (size_t i = 0; i < labels.count; i++)
		if (strcmp(labels.items[i].key, "entry") == 0 && labels.items[i].value_count)
			put_entries(&labels.items[i], out);
	store_labels_done(&labels);
}

void profile_query_explain_empty(const struct profile_query *a, const struct server_context *s, struct buf *out)
{
	char first[32], last[32];

	if (a->left_nothing || a->left_nothing_before) {
		buf_puts(out, "nothing is left: no stack passes all filters of stacks: ");
		describe_stack_filters(&a->view, out);
		return;
	}
	if (a->view.run_count) {
		buf_puts(out, "nothing of ");
		profile_query_describe(a, out);
		buf_printf(out, " has a value of %s above zero", a->columns[a->chosen].name);
		return;
	}
	if (a->stats.first_ns == 0 && a->stats.last_ns == 0) {
		buf_puts(out, "the store is empty, no sample has arrived yet: ");
		pthread_rwlock_rdlock((pthread_rwlock_t *)&s->lock);
		no_samples_reason(s->options.sources, s->options.source_count, out);
		pthread_rwlock_unlock((pthread_rwlock_t *)&s->lock);
		return;
	}
	clock_format(a->stats.first_ns, first, sizeof(first));
	clock_format(a->stats.last_ns, last, sizeof(last));
	buf_puts(out, "no ");
	view_describe(&a->view, out);
	buf_printf(out, "; the store holds samples from %s to %s", first, last);
	put_store_entries(s, &a->stats, out);
}
