/* api_runs.c: the API of runs: lists, a single run with its profile, adding and removing. */

#include "runs.h"

#include "amount.h"
#include "profile_query.h"
#include "downloads.h"
#include "format.h"
#include "missing.h"
#include "profile_json.h"
#include "report.h"
#include "runs_add.h"
#include "wire_profile.h"

#include <string.h>

static void put_time(struct json *j, const char *key, int64_t ns)
{
	json_key(j, key);
	json_double(j, (double)ns / 1e9);
}

static void put_address(struct json *j, const char *key, const char *below, const char *source, const char *id)
{
	_cleanup_(buf_done) struct buf b = { 0 };

	buf_init(&b);
	buf_printf(&b, "%s/%s/%s", below, source, id);
	json_key(j, key);
	json_str(j, b.data);
}

static void put_labels(struct json *j, const struct labels *l)
{
	json_key(j, "labels");
	json_open_object(j);
	for (size_t i = 0; i < l->count; i++) {
		json_key(j, l->items[i].key);
		json_str(j, l->items[i].value);
	}
	json_end(j);
}

void run_put_json(struct json *j, const struct store_run *run)
{
	json_key(j, "source");
	json_str(j, run->source);
	json_key(j, "id");
	json_str(j, run->id);
	json_key(j, "url");
	json_str(j, run->url);
	json_key(j, "name");
	json_str(j, run->name);
	put_time(j, "start", run->start_ns);
	json_key(j, "duration_ns");
	json_i64(j, run->duration_ns);
	put_time(j, "stored", run->stored_ns);
	put_labels(j, &run->labels);
	json_key(j, "totals");
	json_open_object(j);
	for (size_t i = 0; i < run->total_count; i++) {
		json_key(j, run->totals[i].name);
		if (amount_unit(run->totals[i].unit) == AMOUNT_MILLIONTHS)
			json_double(j, (double)run->totals[i].value / 1e6);
		else
			json_i64(j, run->totals[i].value);
	}
	json_end(j);
	json_key(j, "nodes");
	json_u64(j, run->nodes);
	json_key(j, "bytes");
	json_u64(j, run->bytes);
	put_address(j, "page", "/runs", run->source, run->id);
}

/* --- The list --- */

static void list(struct server_context *s, const struct request *q, struct response *r)
{
	_cleanup_(runs_query_done) struct runs_query a = { 0 };
	struct err err = { 0 };
	struct json j;
	int e = runs_query(&a, s, q, &err);

	if (e < 0) {
		profile_query_refuse(r, q, e, &err);
		return;
	}
	r->type = "application/json";
	json_init(&j, &r->body);
	json_open_object(&j);
	json_key(&j, "runs");
	json_open_array(&j);
	for (size_t i = 0; i < a.runs.count; i++) {
		json_open_object(&j);
		run_put_json(&j, &a.runs.items[i]);
		json_end(&j);
	}
	json_end(&j);
	json_key(&j, "sort");
	json_str(&j, a.sort->key);
	json_key(&j, "order");
	json_str(&j, a.query.ascending ? "asc" : "desc");
	json_key(&j, "next");
	json_str(&j, *a.runs.next ? a.runs.next : NULL);
	json_key(&j, "looked");
	json_u64(&j, a.runs.examined);
	missing_put_json(s->options.store, r, &j);
	if (a.runs.count == 0) {
		_cleanup_(buf_done) struct buf why = { 0 };

		buf_init(&why);
		runs_explain_empty(&a, s, &why);
		json_key(&j, "empty");
		json_str(&j, why.data);
	}
	json_end(&j);
	buf_putc(&r->body, '\n');
}

/* --- Adding --- */

static void set_label(struct labels *l, const char *key, const char *value)
{
	labels_set(l, key, strlen(key), value, strlen(value));
}

/* Parameters of the URL override the labels in the profile. */
static bool is_property(const char *key)
{
	static const char *const properties[] = { "source", "id", "url", "name" };

	for (size_t i = 0; i < ARRAY_SIZE(properties); i++)
		if (!strcmp(key, properties[i]))
			return true;
	return false;
}

static int take_params(struct profile *p, const struct params *params, struct err *err)
{
	for (size_t i = 0; i < params->count; i++) {
		const char *key = params->items[i].key, *value = params->items[i].value;
		bool is_label = !strncmp(key, "label.", 6);

		if (is_label && is_property(key + 6))
			return err_set(err, -EINVAL, "invalid label '%s'; a run's %s is given as %s=", key + 6, key + 6, key + 6);
		if (!is_label && !is_property(key))
			return err_set(err, -EINVAL, "%.64s= is not known here; a run is posted with source, id, url, "
				       "name and label.NAME", key);
		if (*value)
			set_label(&p->labels, is_label ? key + 6 : key, value);
	}
	return 0;
}

static void answer_added(struct server_context *s, const struct store_new_run *run, struct response *r)
{
	_cleanup_(buf_done) struct buf location = { 0 };
	struct json j;

	buf_init(&location);
	buf_printf(&location, "/api/v1/runs/%s/%s", run->source, run->id);
	r->status = run->result ? 201 : 200;
	r->location = arena_copy(&r->bytes, location.data, location.size);
	r->type = "application/json";
	json_init(&j, &r->body);
	json_open_object(&j);
	json_key(&j, "source");
	json_str(&j, run->source);
	json_key(&j, "id");
	json_str(&j, run->id);
	json_key(&j, "stored");
	json_bool(&j, run->result == 1);
	put_address(&j, "page", "/runs", run->source, run->id);
	json_end(&j);
	buf_putc(&r->body, '\n');
}

static void store_posted(struct server_context *s, struct profile *p, const struct request *q, struct response *r)
{
	struct store_new_run run;
	int status = runs_store(s, p, q->now_ns, &run);

	if (status)
		response_error(r, q, status, "%s", run.err.text);
	else
		answer_added(s, &run, r);
}

static void add(struct server_context *s, const struct request *q, struct response *r)
{
	_cleanup_(profile_freep) struct profile *p = profile_new();
	struct params params;
	struct err err = { 0 };
	uint64_t charged = 0;
	int e = params_parse(&params, q->query, &err), status;

	if (e < 0) {
		profile_query_refuse(r, q, e, &err);
	} else if (!q->body_size) {
		response_error(r, q, 400, "the request has no body; it is the profile, in any format that strobe reads");
	} else if ((status = runs_read(s, "the body", q->body, q->body_size, p, &charged, &err))) {
		response_error(r, q, status, "%s", err.text);
	} else {
		e = take_params(p, &params, &err);
		if (e < 0)
			profile_query_refuse(r, q, e, &err);
		else
			store_posted(s, p, q, r);
	}
	memory_cap_release(&s->memory, charged);
	params_done(&params);
}

void api_runs(struct server_context *s, const struct request *q, struct response *r)
{
	if (strcmp(q->headers.method, "POST"))
		list(s, q, r);
	else
		add(s, q, r);
}

/* --- One run --- */

static const struct {
	const char *name, *type;
} shapes[] = {
	{ "json", "application/json" },
	{ "strobe", "application/vnd.strobe.profile" },
	{ "folded", "text/plain" },
	{ "svg", "image/svg+xml" },
};

/* Chosen by the parameter, else by the first type in Accept, else JSON. NULL if the parameter is unknown. */
static const char *choose_shape(const struct params *p, const char *accept)
{
	const char *wanted = params_get(p, "format"), *best = NULL, *shape = "json";

	for (size_t i = 0; i < ARRAY_SIZE(shapes); i++) {
		const char *at = accept ? strstr(accept, shapes[i].type) : NULL;

		if (wanted && *wanted && !strcmp(wanted, shapes[i].name))
			return shapes[i].name;
		if (at && (!best || at < best)) {
			best = at;
			shape = shapes[i].name;
		}
	}
	return wanted && *wanted ? NULL : shape;
}

static void put_warning(struct json *j, const struct response *r)
{
	if (!r->warning)
		return;
	json_key(j, "warning");
	json_str(j, r->warning);
}

static void put_json(const struct run_query *a, struct response *r)
{
	struct json j;

	r->type = "application/json";
	response_streams(r);
	json_init(&j, &r->body);
	json_open_object(&j);
	json_key(&j, "run");
	json_open_object(&j);
	run_put_json(&j, &a->run);
	json_end(&j);
	put_warning(&j, r);
	profile_json_about(&j, a->profile);
	profile_json_tree(&j, a->profile);
	json_end(&j);
	buf_putc(&r->body, '\n');
}

static void put_attachment(const struct run_query *a, const char *suffix, struct response *r)
{
	_cleanup_(buf_done) struct buf b = { 0 };

	buf_init(&b);
	buf_printf(&b, "%s; filename=\"%s-%s.%s\"", strcmp(suffix, "folded") ? "attachment" : "inline", a->source,
		   a->id, suffix);
	r->disposition = arena_copy(&r->bytes, b.data, b.size);
}

static void put_shape(const struct run_query *a, const char *shape, const struct request *q, struct response *r)
{
	struct err err = { 0 };
	int e = 0;

	if (!strcmp(shape, "json")) {
		put_json(a, r);
	} else if (!strcmp(shape, "svg")) {
		run_picture(a, q, r);
	} else if (!strcmp(shape, "folded")) {
		response_streams(r);
		e = format_folded.write(a->profile, a->column, &r->body, &err);
		r->type = "text/plain; charset=utf-8";
		put_attachment(a, "folded", r);
	} else {
		struct profile stored = *a->profile;	/* shares all memory with the profile */

		stored.column_count = a->stored_columns;
		e = wire_profile_write_run(&stored, &r->body, &err);
		r->type = "application/vnd.strobe.profile";
		put_attachment(a, "strobe", r);
	}
	if (e < 0)
		profile_query_refuse(r, q, e, &err);
}

static void put_download(const struct run_query *a, const struct download *d, const struct request *q, struct response *r)
{
	_cleanup_(buf_done) struct buf name = { 0 };
	const char *column = params_get(&a->params, "column");
	struct err err = { 0 };
	int code;

	buf_init(&name);
	buf_printf(&name, "%s-%s", a->source, a->id);
	code = download_put(d, a->profile, column && *column ? a->column : UINT32_MAX, name.data, r, &err);
	if (code < 0)
		profile_query_refuse(r, q, code, &err);
}

static void put_wide_row(struct json *j, const struct run_query *a, const struct wide_row *row, const uint32_t *columns,
			 size_t count)
{
	json_open_object(j);
	json_key(j, "name");
	json_bytes(j, profile_name(a->profile, row->frame));
	json_key(j, "file");
	json_bytes(j, profile_file(a->profile, row->frame));
	json_key(j, "line");
	json_u64(j, a->profile->frames[row->frame].line);
	for (int total = 0; total < 2; total++) {
		json_key(j, total ? "total" : "self");
		json_open_object(j);
		for (size_t i = 0; i < count; i++) {
			json_key(j, a->profile->columns[columns[i]].name);
			json_i64(j, total ? row->total[columns[i]] : row->self[columns[i]]);
		}
		json_end(j);
	}
	if (a->profile->edges) {
		json_key(j, "total_at_most");
		json_bool(j, row->at_most);
	}
	json_end(j);
}

/* The flat table, with every column. */
static void put_report(const struct run_query *a, struct response *r)
{
	uint32_t columns[PROFILE_COLUMNS];
	size_t column_count = report_wide_columns(a->profile, columns), count;
	_cleanup_(freep) struct wide_row *rows = report_wide(a->profile, a->column, false, &count);
	struct json j;

	r->type = "application/json";
	json_init(&j, &r->body);
	json_open_object(&j);
	json_key(&j, "run");
	json_open_object(&j);
	run_put_json(&j, &a->run);
	json_end(&j);
	put_warning(&j, r);
	json_key(&j, "column");
	json_str(&j, a->profile->columns[a->column].name);
	json_key(&j, "count");
	json_u64(&j, count);
	json_key(&j, "functions");
	json_open_array(&j);
	for (size_t i = 0; i < count && (!a->limit || i < a->limit); i++)
		put_wide_row(&j, a, &rows[i], columns, column_count);
	json_end(&j);
	json_end(&j);
	buf_putc(&r->body, '\n');
}

static void remove_one(struct server_context *s, const char *rest, const struct request *q, struct response *r)
{
	struct run_query a;
	struct err err = { 0 };
	int e;

	if (!run_query_address(&a, rest, q, r))
		return;
	if (*a.verb) {
		response_error(r, q, 404, "only a whole run can be removed");
		return;
	}
	e = store_remove_run(s->options.store, a.source, a.id, &err);
	if (e < 0)
		response_error(r, q, query_status(e), "%s", err.text);
	else
		r->status = 204;
}

void api_run(struct server_context *s, const struct request *q, struct response *r)
{
	const char *rest = q->path + strlen("/api/v1/runs/");
	_cleanup_(run_query_done) struct run_query a = { 0 };
	const struct download *d;
	const char *shape;

	if (!strcmp(q->headers.method, "DELETE")) {
		remove_one(s, rest, q, r);
		return;
	}
	if (!run_query(&a, s, rest, q, r))
		return;
	run_warn(&a, r);
	shape = choose_shape(&a.params, q->accept);
	d = download_by_name(params_get(&a.params, "format"));
	if (!strcmp(a.verb, "flamegraph"))
		run_picture(&a, q, r);
	else if (!strcmp(a.verb, "report"))
		put_report(&a, r);
	else if (*a.verb)
		response_error(r, q, 404, "not found; only /flamegraph and /report exist below the address of a run");
	else if (d)
		put_download(&a, d, q, r);
	else if (!shape)
		response_error(r, q, 400, "format=%.40s: give json, strobe, folded, svg, " DOWNLOADS,
			       params_get(&a.params, "format"));
	else
		put_shape(&a, shape, q, r);
}
