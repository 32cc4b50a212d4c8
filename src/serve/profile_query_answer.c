/* profile_query_answer.c: describes the result of a query, explains why it is empty, and writes warnings and the
 * beginning of its JSON. */

#include "profile_query.h"

#include "difference.h"
#include "mem.h"
#include "no_samples_reason.h"
#include "runs.h"
#include "text.h"

#include <string.h>

#define ENTRIES_NAMED 8u	/* listed in the message for an empty answer */

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
		return store_is_unavailable(code) ? 503 : 500;
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

/* Puts nothing if the result is complete and exact. */
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
	for (size_t i = 0; i < a->warnings.count; i++)
		buf_printf(out, "%s%s", semicolon(out), a->warnings.items[i].text);
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

static void put_query_stats(const struct profile_query *a, struct json *j)
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

/* Puts the available scales. */
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
		put_query_stats(a, j);
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

void profile_query_begin_json(const struct profile_query *a, const struct server_context *s, struct response *r, struct json *j)
{
	profile_query_warn(a, r);
	r->type = "application/json";
	json_init(j, &r->body);
	profile_query_json_head(a, s, j);
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

void profile_query_put_store(const struct profile_query *a, const struct server_context *s, struct buf *out)
{
	char first[32], last[32];

	clock_format(a->stats.first_ns, first, sizeof(first));
	clock_format(a->stats.last_ns, last, sizeof(last));
	buf_printf(out, "; the store holds samples from %s to %s", first, last);
	put_store_entries(s, &a->stats, out);
}

void profile_query_explain_empty(const struct profile_query *a, const struct server_context *s, struct buf *out)
{
	if (a->left_nothing || a->left_nothing_before) {
		buf_puts(out, "no stack passes all stack filters: ");
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
	buf_puts(out, "no ");
	view_describe(&a->view, out);
	profile_query_put_store(a, s, out);
}
