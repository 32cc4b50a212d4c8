/* api_table.c: every function with every metric, column by column, for the table of the page. */

#include "api.h"

#include "profile_query.h"
#include "at_most_json.h"
#include "diff_report.h"
#include "mem.h"
#include "text.h"

#include <stddef.h>
#include <string.h>

/* --- Common to both kinds --- */

static void put_name(struct json *j, const struct profile *p, uint32_t frame)
{
	json_bytes(j, profile_name(p, frame));
}

static void put_file(struct json *j, const struct profile *p, uint32_t frame)
{
	json_bytes(j, profile_file(p, frame));
}

static void put_line(struct json *j, const struct profile *p, uint32_t frame)
{
	json_u64(j, p->frames[frame].line);
}

static void put_frames(struct json *j, const struct profile *p, const uint32_t *frames, size_t count)
{
	static const struct {
		const char *key;
		void (*put)(struct json *j, const struct profile *p, uint32_t frame);
	} lists[] = { { "name", put_name }, { "file", put_file }, { "line", put_line } };

	for (size_t k = 0; k < ARRAY_SIZE(lists); k++) {
		json_key(j, lists[k].key);
		json_open_array(j);
		for (size_t i = 0; i < count; i++)
			lists[k].put(j, p, frames[i]);
		json_end(j);
	}
}

static size_t limited(const struct profile_query *a, size_t count)
{
	return a->view.has_limit && a->view.limit && a->view.limit < count ? a->view.limit : count;
}

/* --- All metrics --- */

static void put_values(struct json *j, const struct profile_query *a, const struct wide_row *rows, size_t count, bool total)
{
	json_key(j, total ? "total" : "self");
	json_open_array(j);
	for (uint32_t c = 0; c < a->column_count; c++) {
		json_open_array(j);
		for (size_t i = 0; i < count; i++)
			json_i64(j, total ? rows[i].total[c] : rows[i].self[c]);
		json_end(j);
	}
	json_end(j);
}

static void put_metrics(struct json *j, const struct profile_query *a)
{
	size_t all, count;
	_cleanup_(freep) struct wide_row *rows = report_wide(a->profile, a->column, a->view.sort, &all);
	_cleanup_(freep) uint32_t *frames = xcalloc(all + 1, sizeof(*frames));

	for (size_t i = 0; i < all; i++)
		frames[i] = rows[i].frame;
	count = limited(a, all);
	json_key(j, "count");
	json_u64(j, all);
	put_frames(j, a->profile, frames, count);
	put_values(j, a, rows, count, false);
	put_values(j, a, rows, count, true);
	at_most_put_json(j, rows, count, sizeof(*rows), offsetof(struct wide_row, at_most));
}

/* --- One metric of two sides --- */

static void put_sides(struct json *j, const struct diff_report *r, size_t count, bool total)
{
	json_key(j, total ? "total" : "self");
	json_open_array(j);
	for (int after = 0; after < 2; after++) {
		json_open_array(j);
		for (size_t i = 0; i < count; i++) {
			const struct diff_cell *c = total ? &r->rows[i].total : &r->rows[i].self;

			json_i64(j, after ? c->after : c->before);
		}
		json_end(j);
	}
	json_end(j);
}

/* Puts the base of shares for scaled values before. */
static void put_measured(struct json *j, const struct diff_report *r, size_t count, bool total)
{
	if (r->diff->measured == r->diff->before)
		return;
	json_key(j, total ? "total_measured" : "self_measured");
	json_open_array(j);
	for (size_t i = 0; i < count; i++)
		json_i64(j, total ? r->rows[i].total_measured : r->rows[i].self_measured);
	json_end(j);
}

/* The indices of rows whose change exceeds the noise. */
static void put_changed(struct json *j, const struct diff_report *r, size_t count, bool total)
{
	json_key(j, total ? "total_changed" : "self_changed");
	json_open_array(j);
	for (size_t i = 0; i < count; i++)
		if (total ? r->rows[i].total.changed : r->rows[i].self.changed)
			json_u64(j, i);
	json_end(j);
}

static void put_comparison(struct json *j, const struct profile_query *a)
{
	struct diff_report_options o = {
		.name_before = a->name_before, .name_after = a->name_after, .column = a->columns[a->chosen].name,
		.compared = "", .all = true, .sort = a->view.sort,
	};
	_cleanup_(freep) uint32_t *frames = NULL;
	struct diff_report r;
	size_t count;

	diff_report_init(&r, &a->diff, &o);
	frames = xcalloc(r.count + 1, sizeof(*frames));
	for (size_t i = 0; i < r.count; i++)
		frames[i] = r.rows[i].frame;
	count = limited(a, r.count);
	json_key(j, "count");
	json_u64(j, r.count);
	json_key(j, "whole");
	json_open_array(j);
	json_i64(j, r.before);
	json_i64(j, r.after);
	json_end(j);
	if (a->diff.measured != a->diff.before) {
		json_key(j, "whole_measured");
		json_i64(j, r.whole_measured);
	}
	put_frames(j, a->profile, frames, count);
	for (int total = 0; total < 2; total++) {
		put_sides(j, &r, count, total);
		put_measured(j, &r, count, total);
		put_changed(j, &r, count, total);
	}
	at_most_put_json(j, r.rows, count, sizeof(*r.rows), offsetof(struct diff_row, total.at_most));
	diff_report_done(&r);
}

void api_table(struct server_context *s, const struct request *q, struct response *r)
{
	_cleanup_(profile_query_done) struct profile_query a = { 0 };
	struct err err = { 0 };
	struct json j;
	int code = profile_query_parse(&a, q, &err);

	if (code < 0 || (code = profile_query_load(&a, s, &err)) < 0) {
		profile_query_refuse(r, q, code, &err);
		return;
	}
	response_streams(r);
	profile_query_begin_json(&a, s, r, &j);
	profile_query_json_columns(&a, &j);
	if (a.is_diff)
		put_comparison(&j, &a);
	else
		put_metrics(&j, &a);
	json_end(&j);
	buf_putc(&r->body, '\n');
}
