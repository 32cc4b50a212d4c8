/* api_labels.c: the labels in a time range, their values, and the number of samples of each. */

#include "api.h"
#include "missing.h"

#include "profile_query.h"

static void put_label(struct json *j, const struct store_label *l)
{
	json_open_object(j);
	json_key(j, "key");
	json_str(j, l->key);
	json_key(j, "values");
	json_open_array(j);
	for (size_t i = 0; i < l->value_count; i++) {
		json_open_object(j);
		json_key(j, "value");
		json_str(j, l->values[i].value);
		json_key(j, "samples");
		json_u64(j, l->values[i].samples);
		json_end(j);
	}
	json_end(j);
	json_end(j);
}

void api_labels(struct server_context *s, const struct request *q, struct response *r)
{
	_cleanup_(profile_query_done) struct profile_query a = { 0 };
	struct store_labels labels = { 0 };
	struct store_query query;
	struct err err = { 0 };
	struct json j;
	int code = profile_query_parse_range(&a, q, &err);

	query = view_query(&a.view);
	if (code >= 0)
		code = store_labels(s->options.store, &query, &labels, &err);
	if (code < 0) {
		profile_query_refuse(r, q, code, &err);
		return;
	}

	r->type = "application/json";
	json_init(&j, &r->body);
	json_open_object(&j);
	json_key(&j, "from");
	json_double(&j, (double)a.view.from_ns / 1e9);
	json_key(&j, "to");
	json_double(&j, (double)a.view.to_ns / 1e9);
	json_key(&j, "labels");
	json_open_array(&j);
	for (size_t i = 0; i < labels.count; i++)
		put_label(&j, &labels.items[i]);
	json_end(&j);
	missing_put_json(s->options.store, r, &j);
	json_end(&j);
	buf_putc(&r->body, '\n');
	store_labels_done(&labels);
}
