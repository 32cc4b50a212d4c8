/* api_function.c: one function with its callers and its callees, in every metric. */

#include "api.h"

#include "function_query.h"

#include <string.h>

/* Returns the columns of the response: all that can be requested, or both sides of the compared one. */
static size_t columns_of(const struct profile_query *a, uint32_t ret[PROFILE_COLUMNS])
{
	if (a->is_diff) {
		ret[0] = a->before;
		ret[1] = a->column;
		return 2;
	}
	for (uint32_t c = 0; c < a->column_count; c++)
		ret[c] = c;
	return a->column_count;
}

static void put_values(struct json *j, const struct profile_query *a, const char *key, const int64_t *values)
{
	uint32_t columns[PROFILE_COLUMNS];
	size_t count = columns_of(a, columns);

	json_key(j, key);
	json_open_array(j);
	for (size_t i = 0; i < count; i++)
		json_i64(j, values[columns[i]]);
	json_end(j);
}

/* Puts the base of shares for scaled values before. */
static void put_measured(struct json *j, const struct profile_query *a, const char *key, const int64_t *values)
{
	if (!a->is_diff || a->diff.measured == a->diff.before)
		return;
	json_key(j, key);
	json_i64(j, values[a->diff.measured]);
}

static void put_frame(struct json *j, const struct profile *p, uint32_t frame)
{
	json_key(j, "name");
	json_bytes(j, profile_name(p, frame));
	json_key(j, "file");
	json_bytes(j, profile_file(p, frame));
	json_key(j, "line");
	json_u64(j, p->frames[frame].line);
}

static void put_edges(struct json *j, const struct function_query *f, const char *key, const struct report_edges *e)
{
	json_key(j, key);
	json_open_array(j);
	for (size_t i = 0; i < e->count; i++) {
		json_open_object(j);
		if (e->edges[i].frame != REPORT_NO_CALLER)
			put_frame(j, f->query->profile, e->edges[i].frame);
		else
			json_key(j, "name"), json_str(j, NULL);
		put_values(j, f->query, "values", e->edges[i].values);
		put_measured(j, f->query, "measured", e->edges[i].values);
		json_key(j, "at_most");
		json_bool(j, e->edges[i].at_most);
		json_key(j, "itself");
		json_bool(j, e->edges[i].frame != REPORT_NO_CALLER && f->of[e->edges[i].frame]);
		json_end(j);
	}
	json_end(j);
}

static void put_files(struct json *j, const struct function_query *f)
{
	json_key(j, "files");
	json_open_array(j);
	for (size_t i = 0; i < f->file_count; i++)
		json_bytes(j, f->files[i]);
	json_end(j);
}

static void put_function(struct json *j, const struct function_query *f)
{
	json_key(j, "function");
	json_open_object(j);
	put_frame(j, f->query->profile, f->first);
	json_key(j, "places");
	json_u64(j, f->places);
	put_files(j, f);
	put_measured(j, f->query, "self_measured", f->callees.self);
	put_measured(j, f->query, "total_measured", f->callees.total);
	put_values(j, f->query, "self", f->callees.self);
	put_values(j, f->query, "total", f->callees.total);
	put_values(j, f->query, "again", f->callees.again);
	json_key(j, "at_most");
	json_bool(j, f->callees.total_at_most);
	json_end(j);
	put_edges(j, f, "callers", &f->callers);
	put_edges(j, f, "callees", &f->callees);
}

void api_function(struct server_context *s, const struct request *q, struct response *r)
{
	_cleanup_(profile_query_done) struct profile_query a = { 0 };
	_cleanup_(function_query_done) struct function_query f = { 0 };
	struct err err = { 0 };
	struct json j;
	int code = profile_query_parse(&a, q, &err);

	if (code < 0 || (code = profile_query_load(&a, s, &err)) < 0 || (code = function_query(&f, &a, &err)) < 0) {
		profile_query_refuse(r, q, code, &err);
		return;
	}
	profile_query_begin_json(&a, s, r, &j);
	profile_query_json_columns(&a, &j);
	put_function(&j, &f);
	json_end(&j);
	buf_putc(&r->body, '\n');
}
