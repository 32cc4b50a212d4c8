/* api_functions.c: the flat table: every function with its self and total values. */

#include "api.h"

#include "profile_query.h"
#include "report.h"

#define DEFAULT_ROWS 100u

static void put_row(struct json *j, const struct profile_query *a, const struct flat_row *row)
{
	const struct profile_frame *f = &a->profile->frames[row->frame];
	double total = (double)a->total;

	json_open_object(j);
	json_key(j, "name");
	json_bytes(j, profile_name(a->profile, row->frame));
	json_key(j, "file");
	json_bytes(j, profile_file(a->profile, row->frame));
	json_key(j, "line");
	json_u64(j, f->line);
	json_key(j, "self");
	json_i64(j, row->self);
	json_key(j, "total");
	json_i64(j, row->total);
	json_key(j, "self_share");
	json_double(j, (double)row->self / total);
	json_key(j, "total_share");
	json_double(j, (double)row->total / total);
	json_end(j);
}

static void put_rows(struct json *j, const struct profile_query *a)
{
	size_t count = 0, limit = a->view.has_limit ? a->view.limit : DEFAULT_ROWS;
	_cleanup_(freep) struct flat_row *rows = NULL;

	if (a->total)
		rows = report_flat(a->profile, a->column, a->view.sort, &count);
	if (limit == 0 || limit > count)
		limit = count;

	json_key(j, "count");
	json_u64(j, count);
	json_key(j, "functions");
	json_open_array(j);
	for (size_t i = 0; i < limit; i++)
		put_row(j, a, &rows[i]);
	json_end(j);
}

void api_functions(struct server_context *s, const struct request *q, struct response *r)
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
	json_key(&j, "column");
	json_str(&j, a.profile->columns[a.column].name);
	json_key(&j, "unit");
	json_str(&j, a.profile->columns[a.column].unit);
	json_key(&j, "total");
	json_i64(&j, a.total);
	put_rows(&j, &a);
	json_end(&j);
	buf_putc(&r->body, '\n');
}
