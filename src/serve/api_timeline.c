/* api_timeline.c: samples over time, of all series or by the values of a label. */

#include "api.h"
#include "missing.h"

#include "profile_query.h"
#include "mem.h"

#include <string.h>

#define VALUES_SHOWN 6		/* the values with most samples; more colors cannot be distinguished */

struct timeline {
	const struct store_query *q;
	int64_t step_ns;
	size_t steps;
	uint64_t *samples, *others;	/* counts of everything, and of values that are not shown */
	struct { const char *value; uint64_t *samples; } values[VALUES_SHOWN];
	size_t value_count;
	struct store_labels labels;	/* owns the values */
};

static void timeline_done(struct timeline *t)
{
	for (size_t i = 0; i < t->value_count; i++)
		free(t->values[i].samples);
	store_labels_done(&t->labels);
	free(t->samples);
	free(t->others);
}

static int count(struct store *s, const struct timeline *t, const struct store_query *q, uint64_t **ret, struct err *err)
{
	*ret = xcalloc(t->steps, sizeof(**ret));
	return store_timeline(s, q, t->step_ns, *ret, t->steps, err);
}

/* Values were found with all filters applied, so a value replaces the filters of its label. */
static int count_value(struct store *s, struct timeline *t, const char *key, const char *value, struct err *err)
{
	_cleanup_(freep) struct label_filter *filters = xcalloc(t->q->filter_count + 1, sizeof(*filters));
	struct store_query q = *t->q;

	q.filter_count = 0;
	for (size_t i = 0; i < t->q->filter_count; i++)
		if (strcmp(t->q->filters[i].key, key) != 0)
			filters[q.filter_count++] = t->q->filters[i];
	filters[q.filter_count++] = (struct label_filter){ key, value, LABEL_IS };
	q.filters = filters;
	t->values[t->value_count].value = value;
	return count(s, t, &q, &t->values[t->value_count++].samples, err);
}

static const struct store_label *find_label(const struct store_labels *l, const char *key)
{
	for (size_t i = 0; i < l->count; i++)
		if (!strcmp(l->items[i].key, key))
			return &l->items[i];
	return NULL;
}

static int count_values(struct store *s, struct timeline *t, const char *key, struct err *err)
{
	int code = store_labels(s, t->q, &t->labels, err);
	const struct store_label *label = code < 0 ? NULL : find_label(&t->labels, key);

	for (size_t i = 0; code >= 0 && label && i < label->value_count && i < VALUES_SHOWN; i++)
		code = count_value(s, t, key, label->values[i].value, err);
	return code;
}

/* Samples that arrived between the two counts are part of "other"; those removed in between may be missing. */
static void find_others(struct timeline *t)
{
	t->others = xcalloc(t->steps, sizeof(*t->others));
	for (size_t i = 0; i < t->steps; i++) {
		uint64_t shown = 0;

		for (size_t k = 0; k < t->value_count; k++)
			shown += t->values[k].samples[i];
		t->others[i] = t->samples[i] > shown ? t->samples[i] - shown : 0;
	}
}

static void put_samples(struct json *j, const char *key, const struct timeline *t, const uint64_t *samples)
{
	json_key(j, key);
	json_open_array(j);
	for (size_t i = 0; i < t->steps; i++)
		json_u64(j, samples[i]);
	json_end(j);
}

static void put_split(struct json *j, const struct timeline *t, const char *key)
{
	json_key(j, "split");
	json_str(j, key);
	json_key(j, "values");
	json_open_array(j);
	for (size_t i = 0; i < t->value_count; i++) {
		json_open_object(j);
		json_key(j, "value");
		json_str(j, t->values[i].value);
		put_samples(j, "samples", t, t->values[i].samples);
		json_end(j);
	}
	json_end(j);
	put_samples(j, "others", t, t->others);
}

static void put(const struct timeline *t, const struct view *v, struct store *s, struct response *r)
{
	struct json j;

	json_init(&j, &r->body);
	json_open_object(&j);
	json_key(&j, "from");
	json_double(&j, (double)t->q->from_ns / 1e9);
	json_key(&j, "to");
	json_double(&j, (double)t->q->to_ns / 1e9);
	json_key(&j, "step");
	json_i64(&j, t->step_ns / 1000000000);
	put_samples(&j, "samples", t, t->samples);
	if (v->split)
		put_split(&j, t, v->split);
	missing_put_json(s, r, &j);
	json_end(&j);
	buf_putc(&r->body, '\n');
}

void api_timeline(struct server_context *s, const struct request *q, struct response *r)
{
	_cleanup_(profile_query_done) struct profile_query a = { 0 };
	_cleanup_(timeline_done) struct timeline t = { 0 };
	struct store_query query;
	struct err err = { 0 };
	int code = profile_query_parse_range(&a, q, &err);

	if (code < 0) {
		profile_query_refuse(r, q, code, &err);
		return;
	}

	/* The first step is aligned to a multiple of the step, so that two requests a moment apart have the same
	 * bars. */
	query = view_query(&a.view);
	query.from_ns -= query.from_ns % a.view.step_ns;
	t = (struct timeline){ .q = &query, .step_ns = a.view.step_ns };
	t.steps = a.view.steps + (query.from_ns + (int64_t)a.view.steps * a.view.step_ns < query.to_ns);
	if ((a.view.split && (code = count_values(s->options.store, &t, a.view.split, &err)) < 0) ||
	    (code = count(s->options.store, &t, &query, &t.samples, &err)) < 0) {
		profile_query_refuse(r, q, code, &err);
		return;
	}
	if (a.view.split)
		find_others(&t);
	r->type = "application/json";
	put(&t, &a.view, s->options.store, r);
}
