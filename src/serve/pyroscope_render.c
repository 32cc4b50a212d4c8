/* pyroscope_render.c: Pyroscope's endpoints from before Connect, which Grafana's app uses to export and compare. */
#include "pyroscope.h"

#include "profile_query.h"
#include "clock.h"
#include "connect.h"
#include "flame_arrays.h"
#include "mem.h"
#include "messages.h"
#include "pyroscope_calls.h"
#include "pyroscope_time.h"
#include "pyroscope_timeline.h"
#include "text.h"

#include <math.h>
#include <string.h>

#define STEPS		1500		/* approximate number of steps in a timeline */
#define STEP_LEAST_S	15
#define STEP_MOST_S	86400

/* The type and the selector of `query`, range and options. */
struct rendering {
	struct pyroscope_request request;
	struct pyroscope_query query;
	struct pyroscope_selection selection;
	struct name_tree tree;
	uint32_t nodes;
};

static void rendering_done(struct rendering *n)
{
	name_tree_done(&n->tree);
	pyroscope_selection_done(&n->selection);
	pyroscope_query_done(&n->query);
}

/* --- Parameters --- */

/* Returns the first parameter of this name, decoded; NULL if it is missing or empty. */
static const char *param(struct arena *bytes, const char *query, const char *name)
{
	size_t n = strlen(name);

	for (const char *p = query; p && *p; p += strcspn(p, "&"), p += *p == '&') {
		size_t size = strcspn(p, "&");
		char *value;

		if (size <= n + 1 || strncmp(p, name, n) || p[n] != '=')
			continue;
		value = arena_copy(bytes, p + n + 1, size - n - 1);
		for (char *c = value; *c; c++)
			if (*c == '+')
				*c = ' ';
		return text_unescape_url(value, strlen(value), &size) < 0 ? NULL : value;
	}
	return NULL;
}

static int parse_time(struct rendering *n, const char *text, int64_t otherwise, int64_t *ret_ms, struct err *err)
{
	int64_t ns = otherwise;
	int r = text ? pyroscope_time_parse(text, n->request.http->now_ns, &ns, err) : 0;

	*ret_ms = ns / 1000000;
	return r;
}

/* "process_cpu:cpu:nanoseconds:cpu:nanoseconds{service_name="shop"}" */
static int parse_query(struct rendering *n, const char *name, const char *text, struct err *err)
{
	size_t type = text ? strcspn(text, "{") : 0;

	if (!type)
		return err_set(err, -EINVAL, "the parameter %s is missing: give a profile type "
					     "followed by a selector", name);
	n->query.type = arena_copy(&n->query.bytes, text, type);
	n->query.selector = text + type;
	return 0;
}

static int parse_nodes(struct rendering *n, const char *text, struct err *err)
{
	char *end;

	if (!text)
		return 0;
	n->query.max_nodes = strtoll(text, &end, 10);
	return *end ? err_set(err, -EINVAL, "max-nodes=%.40s: give a number", text) : 0;
}

/* Reads parameters of one side: "", "left" or "right". */
static int read_params(struct rendering *n, const char *side, struct err *err)
{
	const char *q = n->request.http->query, *nodes;
	struct arena *bytes = &n->query.bytes;
	int64_t now = n->request.http->now_ns;
	char query[16], from[16], until[16];
	int r;

	snprintf(query, sizeof(query), "%s%s", side, *side ? "Query" : "query");
	snprintf(from, sizeof(from), "%s%s", side, *side ? "From" : "from");
	snprintf(until, sizeof(until), "%s%s", side, *side ? "Until" : "until");
	if ((r = parse_query(n, query, param(bytes, q, query), err)) < 0 ||
	    (r = parse_time(n, param(bytes, q, from), now - 3600 * NS_PER_SECOND, &n->query.start_ms, err)) < 0 ||
	    (r = parse_time(n, param(bytes, q, until), now, &n->query.end_ms, err)) < 0)
		return r;
	nodes = param(bytes, q, "max-nodes");
	return parse_nodes(n, nodes ? nodes : param(bytes, q, "maxNodes"), err);
}

static int load_values(struct rendering *n, const char *side, struct stack_values *ret, struct err *err)
{
	int r;

	n->query = (struct pyroscope_query){ .type = "", .selector = "", .name = "" };
	arena_init(&n->query.bytes);
	n->request.query = &n->query;
	if ((r = read_params(n, side, err)) < 0)
		return r;
	r = pyroscope_selection_init(&n->selection, n->request.context, &n->query, n->request.http->now_ns, &n->request.left_out, err);
	if (r < 0 || (r = pyroscope_selection_type(&n->selection, err)) < 0 || (r = pyroscope_selection_nodes(&n->selection, &n->nodes, err)) < 0)
		return r;
	return pyroscope_values(&n->selection, false, ret, err);
}

/* Trees for a comparison are not truncated, since any node may be among the largest of the other side. */
static int load(struct rendering *n, const char *side, struct err *err)
{
	_cleanup_(stack_values_done) struct stack_values values = { 0 };
	int r = load_values(n, side, &values, err);

	if (r < 0)
		return r;
	name_tree_init(&n->tree, &(struct name_tree_source){ &values, NULL, 0 }, *side ? UINT32_MAX : n->nodes);
	return 0;
}

/* --- Flame graphs --- */

static void put_flamebearer(struct json *j, const struct flame_arrays *f)
{
	json_key(j, "flamebearer");
	json_open_object(j);
	json_key(j, "names");
	json_open_array(j);
	for (uint32_t i = 0; i < f->names.count; i++)
		json_bytes(j, intern_get(&f->names, i));
	json_end(j);
	json_key(j, "levels");
	json_open_array(j);
	for (size_t i = 0; i < f->level_count; i++) {
		json_open_array(j);
		for (size_t k = 0; k < f->levels[i].count; k++)
			json_i64(j, f->levels[i].values[k]);
		json_end(j);
	}
	json_end(j);
	json_key(j, "numTicks");
	json_i64(j, f->total);
	json_key(j, "maxSelf");
	json_i64(j, f->max_self);
	json_end(j);
}

static bool is_objects(const char *sample)
{
	return !strcmp(sample, "inuse_objects") || !strcmp(sample, "alloc_objects") || !strcmp(sample, "goroutine") ||
	       !strcmp(sample, "samples");
}

/* Writes units by the names that older clients know. */
static void put_metadata(struct json *j, const struct profile_type *t, const char *format)
{
	bool cpu = !strcmp(t->sample, "cpu");

	json_key(j, "metadata");
	json_open_object(j);
	json_key(j, "format");
	json_str(j, format);
	json_key(j, "spyName");
	json_str(j, "");
	json_key(j, "sampleRate");
	json_i64(j, cpu ? 1000000000 : 100);
	json_key(j, "units");
	json_str(j, cpu ? "samples" : is_objects(t->sample) ? "objects" : t->unit);
	json_key(j, "name");
	json_str(j, t->sample);
	json_end(j);
}

static void put_null(struct json *j, const char *key)
{
	json_key(j, key);
	json_str(j, NULL);
}

/* --- Timelines --- */

/* A multiple of 15 seconds. */
static int64_t step_of(const struct rendering *n)
{
	int64_t s = (n->query.end_ms - n->query.start_ms) / 1000 / STEPS / STEP_LEAST_S * STEP_LEAST_S;

	return s < STEP_LEAST_S ? STEP_LEAST_S : s > STEP_MOST_S ? STEP_MOST_S : s;
}

/* Values are rounded cumulatively, so that the total stays exact when the store's buckets are spread over steps. */
static void put_steps(struct json *j, const double *values, size_t steps, double scale)
{
	double sum = 0;
	int64_t given = 0;

	for (size_t i = 0; i < steps; i++) {
		int64_t until = (int64_t)floor((sum += values[i] / scale) + 0.5);

		json_i64(j, until - given);
		given = until;
	}
}

static void put_timeline(struct json *j, const struct pyroscope_timeline *t, const double *values, double scale)
{
	json_open_object(j);
	json_key(j, "startTime");
	json_i64(j, t->start_ns / NS_PER_SECOND);
	json_key(j, "samples");
	json_open_array(j);
	for (size_t i = 0; !values && i < t->steps; i++)
		json_i64(j, 0);
	if (values)
		put_steps(j, values, t->steps, scale);
	json_end(j);
	json_key(j, "durationDelta");
	json_i64(j, t->step_ns / NS_PER_SECOND);
	put_null(j, "watermarks");
	json_end(j);
}

static const char *value_of(const struct pyroscope_group *g, const char *label)
{
	const char *value = labels_get(&g->labels, label);

	return value ? value : "";
}

static int compare_groups(const void *a, const void *b, void *label)
{
	return strcmp(value_of(*(const struct pyroscope_group *const *)a, label), value_of(*(const struct pyroscope_group *const *)b, label));
}

static void put_groups(struct json *j, const struct pyroscope_timeline *t, const char *label, double scale)
{
	_cleanup_(freep) const struct pyroscope_group **order = xmalloc((t->count + 1) * sizeof(*order));

	for (size_t i = 0; i < t->count; i++)
		order[i] = &t->groups[i];
	qsort_r(order, t->count, sizeof(*order), compare_groups, (void *)label);
	json_open_object(j);
	for (size_t i = 0; i < t->count; i++) {
		json_key(j, value_of(order[i], label));
		put_timeline(j, t, order[i]->values, scale);
	}
	json_end(j);
}

/* Writes the timeline of everything, and by the values of a label if the request groups by one. */
static int put_timelines(struct rendering *n, struct json *j, struct err *err)
{
	_cleanup_(pyroscope_timeline_done) struct pyroscope_timeline all = { 0 }, groups = { 0 };
	const char *label = param(&n->query.bytes, n->request.http->query, "groupBy");
	const char *aggregation = param(&n->query.bytes, n->request.http->query, "aggregation");
	double scale = aggregation && !strcmp(aggregation, "avg") ? (double)step_of(n) : 1;
	int r;

	n->query.step_s = (double)step_of(n);
	r = pyroscope_timeline_init(&all, &n->request, err);
	if (r < 0)
		return r;
	json_key(j, "timeline");
	put_timeline(j, &all, all.count ? all.groups[0].values : NULL, scale);
	if (!label) {
		put_null(j, "groups");
		return 0;
	}
	n->query.group_by = (struct pyroscope_texts){ .items = xcalloc(1, sizeof(char *)), .count = 1 };
	n->query.group_by.items[0] = label;
	r = pyroscope_timeline_init(&groups, &n->request, err);
	json_key(j, "groups");
	put_groups(j, &groups, label, scale);
	return r;
}

/* --- The addresses --- */

static void finish(struct response *r, const struct request *q, int code, const struct err *err)
{
	if (code < 0) {
		profile_query_refuse(r, q, code, err);
		return;
	}
	r->type = "application/json";
	connect_compress(q, r);
}

static int render(struct rendering *n, struct buf *out, struct err *err)
{
	_cleanup_(flame_arrays_done) struct flame_arrays f = { 0 };
	struct json j;
	int r = load(n, "", err);

	if (r < 0)
		return r;
	flame_arrays_init(&f, &n->tree, NULL, n->nodes);
	json_init(&j, out);
	json_open_object(&j);
	json_key(&j, "version");
	json_i64(&j, 1);
	put_flamebearer(&j, &f);
	put_metadata(&j, &n->selection.type, "single");
	r = put_timelines(n, &j, err);
	put_null(&j, "heatmap");
	json_key(&j, "leftTicks");
	json_i64(&j, 0);
	json_key(&j, "rightTicks");
	json_i64(&j, 0);
	json_end(&j);
	return r;
}

static int render_dot(struct rendering *n, struct buf *out, struct err *err)
{
	_cleanup_(stack_values_done) struct stack_values values = { 0 };
	int r = load_values(n, "", &values, err);

	return r < 0 ? r : pyroscope_put_dot(&n->selection, &values, out, err);
}

static bool is_dot(const struct request *q)
{
	_cleanup_(arena_done) struct arena bytes = { 0 };
	const char *format;

	arena_init(&bytes);
	format = param(&bytes, q->query, "format");
	return format && !strcmp(format, "dot");
}

void pyroscope_render(struct server_context *s, const struct request *q, struct response *r)
{
	_cleanup_(rendering_done) struct rendering n = { .request = { .context = s, .http = q } };
	struct err err = { 0 };
	bool dot = is_dot(q);
	int e = dot ? render_dot(&n, &r->body, &err) : render(&n, &r->body, &err);

	pyroscope_warn(&n.request.left_out, r);
	finish(r, q, e, &err);
	if (dot && e >= 0)
		r->type = "text/vnd.graphviz";
}

static void add_left_out(struct pyroscope_left_out *to, const struct pyroscope_left_out *more)
{
	to->pruned |= more->pruned;
	to->runs = more->runs ? more->runs : to->runs;
}

static int render_diff(struct rendering *left, struct rendering *right, struct buf *out, struct err *err)
{
	_cleanup_(flame_arrays_done) struct flame_arrays f = { 0 };
	struct json j;
	int r;

	if ((r = load(left, "left", err)) < 0 || (r = load(right, "right", err)) < 0)
		return r;
	if (!profile_type_is(&left->selection.type, &right->selection.type))
		return err_set(err, -EINVAL, "both sides of a comparison must have the same profile type");
	flame_arrays_init(&f, &left->tree, &right->tree, left->nodes);
	json_init(&j, out);
	json_open_object(&j);
	json_key(&j, "version");
	json_i64(&j, 1);
	put_flamebearer(&j, &f);
	put_metadata(&j, &left->selection.type, "double");
	put_null(&j, "timeline");
	put_null(&j, "groups");
	put_null(&j, "heatmap");
	json_key(&j, "leftTicks");
	json_i64(&j, f.totals[0]);
	json_key(&j, "rightTicks");
	json_i64(&j, f.totals[1]);
	json_end(&j);
	return 0;
}

void pyroscope_render_diff(struct server_context *s, const struct request *q, struct response *r)
{
	_cleanup_(rendering_done) struct rendering left = { .request = { .context = s, .http = q } }, right = left;
	struct err err = { 0 };
	int e = render_diff(&left, &right, &r->body, &err);

	add_left_out(&left.request.left_out, &right.request.left_out);
	pyroscope_warn(&left.request.left_out, r);
	finish(r, q, e, &err);
}

/* Older pages request the types as values of __name__. */
static int put_values(struct pyroscope_request *q, const char *label, struct json *j, struct err *err)
{
	_cleanup_(pyroscope_rows_done) struct pyroscope_rows rows = { 0 };
	_cleanup_(intern_done) struct intern values = { 0 };
	_cleanup_(freep) const char **sorted = NULL;
	struct pyroscope_selection a;
	int r = pyroscope_selection_init(&a, q->context, q->query, q->http->now_ns, &q->left_out, err);

	intern_init(&values);
	if (r >= 0)
		r = pyroscope_rows_load(&a, true, &rows, err);
	pyroscope_selection_done(&a);
	for (size_t i = 0; i < rows.count; i++) {
		char id[PROFILE_TYPE_ID];
		const char *value = pyroscope_label(q->context, &rows.items[i].labels, &rows.items[i].type,
						    strcmp(label, "__name__") ? label : "__profile_type__", id);

		if (*value)
			intern_add(&values, value, strlen(value));
	}
	sorted = pyroscope_sorted(&values);
	json_open_array(j);
	for (uint32_t i = 0; i < values.count; i++)
		json_str(j, sorted[i]);
	json_end(j);
	return r;
}

void pyroscope_values_of_label(struct server_context *s, const struct request *q, struct response *r)
{
	_cleanup_(rendering_done) struct rendering n = { .request = { .context = s, .http = q } };
	const char *label;
	struct err err = { 0 };
	struct json j;
	int e;

	n.query = (struct pyroscope_query){ .type = "", .selector = "", .name = "" };
	arena_init(&n.query.bytes);
	n.request.query = &n.query;
	label = param(&n.query.bytes, q->query, "label");
	if (!label) {
		response_error(r, q, 400, "the parameter label is missing");
		return;
	}
	json_init(&j, &r->body);
	if ((e = parse_time(&n, param(&n.query.bytes, q->query, "from"), q->now_ns - 3600 * NS_PER_SECOND, &n.query.start_ms, &err)) >= 0 &&
	    (e = parse_time(&n, param(&n.query.bytes, q->query, "until"), q->now_ns, &n.query.end_ms, &err)) >= 0)
		e = put_values(&n.request, label, &j, &err);
	finish(r, q, e, &err);
}
