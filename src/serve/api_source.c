/* api_source.c: the source of a function, with the cost of each line. */

#include "api.h"

#include "source_query.h"

static void put_sides(struct json *j, const struct source_query *f, const char *key, const int64_t *values)
{
	json_key(j, key);
	json_open_array(j);
	for (size_t i = 0; i < f->sides; i++)
		json_i64(j, values[i]);
	json_end(j);
}

static void put_line(struct json *j, const struct source_query *f, const struct source_line *l)
{
	_cleanup_(buf_done) struct buf text = { 0 };

	json_open_object(j);
	json_key(j, "line");
	json_u64(j, l->number);
	put_sides(j, f, "self", l->self);
	put_sides(j, f, "total", l->total);
	json_key(j, "hot");
	json_bool(j, l->hot);
	json_key(j, "text");
	if (l->text.p) {
		buf_init(&text);
		source_query_text(&text, l->text);
		json_bytes(j, (struct str){ text.data ? text.data : "", text.size });
	} else {
		json_str(j, NULL);
	}
	json_end(j);
}

static void put_source(struct json *j, struct source_query *f)
{
	static const char *const states[] = { "unknown", "unchanged", "changed", "missing" };
	struct source_line l;

	json_key(j, "file");
	if (f->file.n)
		json_bytes(j, f->file);
	else
		json_str(j, NULL);
	json_key(j, "others");
	json_open_array(j);
	for (size_t i = 0; i < f->other_count && i < SOURCE_ASK_OTHERS; i++)
		json_bytes(j, f->others[i]);
	json_end(j);
	json_key(j, "other_count");
	json_u64(j, f->other_count);
	json_key(j, "start");
	json_u64(j, f->start);
	put_sides(j, f, "self", f->self);
	put_sides(j, f, "total", f->total);
	put_sides(j, f, "whole", f->whole);
	json_key(j, "source");
	json_str(j, states[f->source.state]);
	json_key(j, "why");
	json_str(j, f->why);
	json_key(j, "lines");
	json_open_array(j);
	while (source_query_next(f, &l))
		put_line(j, f, &l);
	json_end(j);
}

static int find(struct profile_query *a, const struct server_context *s, struct err *err)
{
	int code;

	if (!a->view.function)
		return err_set(err, -EINVAL, "function= is missing: give the whole name of a function; with by=file that of a file, "
			       "with by=line a line");
	if (!source_query_fits(&a->view))
		return err_set(err, -EINVAL, "by=%s: source is shown by function, own, class, file and line", report_by_key(a->view.by));
	a->with_source = true;
	code = profile_query_load(a, s, err);
	if (code < 0)
		return code;
	if (!profile_stacks(a->subject) && !(a->subject_before && profile_stacks(a->subject_before)))
		return err_set(err, -ENOENT, "there is no %s '%.200s' in the "
					     "selected profile", report_by_name(a->view.by, false),
			       a->view.function);
	return 0;
}

void api_source(struct server_context *s, const struct request *q, struct response *r)
{
	_cleanup_(profile_query_done) struct profile_query a = { 0 };
	_cleanup_(source_query_done) struct source_query f = { 0 };
	struct err err = { 0 };
	struct json j;
	int code = profile_query_parse(&a, q, &err);

	if (code < 0 || (code = find(&a, s, &err)) < 0) {
		profile_query_refuse(r, q, code, &err);
		return;
	}
	source_query(&f, &a, s);
	profile_query_begin_json(&a, s, r, &j);
	profile_query_json_columns(&a, &j);
	put_source(&j, &f);
	json_end(&j);
	buf_putc(&r->body, '\n');
}
