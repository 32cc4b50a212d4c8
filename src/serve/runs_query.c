/* runs_query.c: loads runs of the store for URLs and parameters. */

#include "runs.h"

#include "amount.h"
#include "profile_query.h"
#include "clock.h"
#include "edges.h"
#include "render.h"
#include "saturate.h"
#include "text.h"

#include <string.h>

#define ROWS		100u
#define SOURCES_NAMED	8u	/* listed in the message for an empty list */

/* --- Lists --- */

const struct runs_column runs_columns[RUNS_COLUMNS] = {
	{ "name", "Run", STORE_RUNS_BY_NAME, true, NULL },
	{ "start", "Started (UTC)", STORE_RUNS_BY_START, false, NULL },
	{ "wall", "Wall", STORE_RUNS_BY_WALL, false, "wall_ns" },
	{ "cpu", "CPU", STORE_RUNS_BY_CPU, false, "cpu_ns" },
	{ "memory", "Memory", STORE_RUNS_BY_MEMORY, false, "memory_bytes" },
	{ "peak", "Peak memory", STORE_RUNS_BY_PEAK, false, "peak_memory_bytes" },
	{ "calls", "Calls", STORE_RUNS_BY_CALLS, false, "calls" },
	{ "duration", "Duration", STORE_RUNS_BY_DURATION, false, NULL },
	{ "source", "Source", STORE_RUNS_BY_SOURCE, true, NULL },
	{ "id", "Id", STORE_RUNS_BY_ID, true, NULL },
};

static int parse_count(const char *name, const char *text, size_t max, size_t *ret, struct err *err)
{
	char *end;
	unsigned long n = strtoul(text, &end, 10);

	if (*text < '0' || *text > '9' || *end || n > max)
		return err_set(err, -EINVAL, "%s=%.40s: give a number up to %zu", name, text, max);
	*ret = n;
	return 0;
}

static int parse_moment(const char *name, const char *text, int64_t now_ns, int64_t *ret, struct err *err)
{
	struct err why;

	if (clock_parse_time(text, now_ns, ret, &why) < 0)
		return err_set(err, -EINVAL, "%s: %s", name, why.text);
	return 0;
}

static int parse_sort(struct runs_query *a, struct err *err)
{
	const char *key = params_get(&a->params, "sort"), *order = params_get(&a->params, "order");

	a->sort = NULL;
	for (size_t i = 0; i < RUNS_COLUMNS; i++)
		if (!strcmp(key && *key ? key : "start", runs_columns[i].key))
			a->sort = &runs_columns[i];
	if (!a->sort)
		return err_set(err, -EINVAL, "sort=%.40s: give start, wall, cpu, memory, peak, calls, duration, source, id "
			       "or name", key);
	if (order && *order && strcmp(order, "asc") && strcmp(order, "desc"))
		return err_set(err, -EINVAL, "order=%.40s: give asc or desc", order);
	a->query.order = a->sort->order;
	a->query.ascending = order && *order ? !strcmp(order, "asc") : a->sort->ascending;
	return 0;
}

/* "host=web1 deploy=7*": several filters in one field. */
static int parse_labels(struct runs_query *a, const char *text, struct err *err)
{
	while (*(text += strspn(text, " "))) {
		size_t n = strcspn(text, " "), key = strcspn(text, "= ");
		char *word = arena_copy(&a->bytes, text, n);

		if (text[key] != '=' || key + 1 >= n || key > STROBE_WIRE_LABEL_KEY ||
		    !strobe_wire_is_label_key((const uint8_t *)word, key))
			return err_set(err, -EINVAL, "labels=%.80s: give labels with their values, as in host=web1 deploy=7*",
				       text);
		if (a->query.filter_count == PARAMS_MAX)
			return err_set(err, -EINVAL, "labels: give at most %u", PARAMS_MAX);
		word[key] = 0;
		a->filters[a->query.filter_count++] = view_filter(&a->bytes, word, word + key + 1);
		text += n;
	}
	return 0;
}

static bool is_sort(const char *key)
{
	return !strcmp(key, "sort") || !strcmp(key, "order");
}

/* Reads one nonempty parameter; unknown ones are labels. */
static int take_param(struct runs_query *a, const char *key, const char *value, int64_t now_ns, struct err *err)
{
	struct store_run_query *q = &a->query;

	if (!strcmp(key, "source"))
		q->source = value;
	else if (!strcmp(key, "url"))
		q->url_part = value;
	else if (!strcmp(key, "id"))
		q->id_part = value;
	else if (!strcmp(key, "search"))
		q->text = value;
	else if (!strcmp(key, "after"))
		q->after = value;
	else if (!strcmp(key, "labels"))
		return parse_labels(a, value, err);
	else if (!strcmp(key, "since"))
		return parse_moment(key, value, now_ns, &q->from_ns, err);
	else if (!strcmp(key, "until"))
		return parse_moment(key, value, now_ns, &q->to_ns, err);
	else if (!strcmp(key, "limit"))
		return parse_count(key, value, RUNS_LIMIT_MAX, &q->limit, err);
	else if (q->filter_count == PARAMS_MAX)
		return err_set(err, -EINVAL, "there are more than %u labels to filter by", PARAMS_MAX);
	else if (!is_sort(key))
		a->filters[q->filter_count++] = view_filter(&a->bytes, key, value);
	return 0;
}

int runs_query(struct runs_query *a, const struct server_context *s, const struct request *q, struct err *err)
{
	int r;

	memset(a, 0, sizeof(*a));
	arena_init(&a->bytes);
	a->query = (struct store_run_query){ .filters = a->filters, .limit = RUNS_LIMIT };
	r = params_parse(&a->params, q->query, err);
	for (size_t i = 0; r >= 0 && i < a->params.count; i++)
		if (*a->params.items[i].value)
			r = take_param(a, a->params.items[i].key, a->params.items[i].value, q->now_ns, err);
	if (r >= 0)
		r = parse_sort(a, err);
	if (r >= 0 && a->query.limit == 0)
		a->query.limit = RUNS_LIMIT_MAX;
	if (r >= 0 && a->query.to_ns && a->query.from_ns >= a->query.to_ns)
		r = err_set(err, -EINVAL, "since=%.40s is not before until=%.40s, so the range is empty",
			    params_get(&a->params, "since"), params_get(&a->params, "until"));
	return r < 0 ? r : store_list_runs(s->options.store, &a->query, &a->runs, err);
}

void runs_query_done(struct runs_query *a)
{
	store_runs_done(&a->runs);
	arena_done(&a->bytes);
	params_done(&a->params);
}

static void put_sources(const struct store_label *sources, struct buf *out)
{
	uint64_t total = 0;

	for (size_t i = 0; i < sources->value_count; i++)
		total += sources->values[i].samples;
	buf_printf(out, "; the store holds %llu run%s of the source%s ", (unsigned long long)total,
		   total == 1 ? "" : "s", sources->value_count == 1 ? "" : "s");
	for (size_t i = 0; i < sources->value_count && i < SOURCES_NAMED; i++)
		buf_printf(out, "%s%s", i ? ", " : "", sources->values[i].value);
	if (sources->value_count > SOURCES_NAMED)
		buf_printf(out, " and %zu more", sources->value_count - SOURCES_NAMED);
}

void runs_explain_empty(const struct runs_query *a, const struct server_context *s, struct buf *out)
{
	struct store_label sources;

	if (store_run_sources(s->options.store, &sources, NULL) < 0) {
		buf_puts(out, "no run matches");
		return;
	}
	if (sources.value_count == 0) {
		buf_puts(out, "there are no runs yet: trace requests with strobe.trace_rate or strobe.trigger_secret, "
			      "or import profiles with 'strobe import --source NAME FILE'");
	} else {
		buf_puts(out, a->query.after && *a->query.after ? "no more runs" : "no run");
		if (a->query.source) {
			buf_puts(out, " of source ");
			text_put_plain(out, (struct str){ a->query.source, strlen(a->query.source) });
		}
		buf_puts(out, " matches");
		put_sources(&sources, out);
	}
	store_label_done(&sources);
}

/* --- One run --- */

const char *run_name(const struct store_run *run)
{
	return run->name ? run->name : run->url ? run->url : run->id;
}

static bool take_key(const char **rest, char ret[STROBE_WIRE_RUN_KEY + 1])
{
	size_t n = strcspn(*rest, "/");

	if (!strobe_wire_is_run_key(*rest, n))
		return false;
	memcpy(ret, *rest, n);
	ret[n] = 0;
	*rest += n;
	return true;
}

bool run_query_address(struct run_query *a, const char *rest, const struct request *q, struct response *r)
{
	memset(a, 0, sizeof(*a));
	arena_init(&a->params.bytes);
	if (take_key(&rest, a->source) && *rest++ == '/' && take_key(&rest, a->id) && (!*rest || *rest == '/')) {
		a->verb = *rest ? rest + 1 : "";
		return true;
	}
	response_error(r, q, 404, "the address of a run ends in its source and its id, as in shop/20261121-1");
	return false;
}

static int parse_flag(const struct params *p, const char *name, bool *ret, struct err *err)
{
	const char *text = params_get(p, name);

	*ret = text && !strcmp(text, "1");
	if (text && *text && strcmp(text, "0") && strcmp(text, "1"))
		return err_set(err, -EINVAL, "%s=%.40s: give 1 or 0", name, text);
	return 0;
}

static int parse_params(struct run_query *a, const struct request *q, struct err *err)
{
	const char *limit;
	int e;

	arena_done(&a->params.bytes);
	if ((e = params_parse(&a->params, q->query, err)) < 0 ||
	    (e = parse_flag(&a->params, "reverse", &a->reverse, err)) < 0 ||
	    (e = parse_flag(&a->params, "inverted", &a->inverted, err)) < 0)
		return e;
	limit = params_get(&a->params, "limit");
	a->limit = ROWS;
	return limit && *limit ? parse_count("limit", limit, 100000000, &a->limit, err) : 0;
}

void run_add_columns(struct profile *p)
{
	profile_add_time(p);
	profile_add_off_cpu(p);
}

static int choose_column(struct run_query *a, struct err *err)
{
	const char *wanted = params_get(&a->params, "column");
	_cleanup_(buf_done) struct buf names = { 0 };

	a->stored_columns = a->profile->column_count;
	run_add_columns(a->profile);
	a->column = profile_pick_column(a->profile, wanted && *wanted ? wanted : NULL);
	if (a->column != UINT32_MAX)
		return 0;
	buf_init(&names);
	for (uint32_t i = 0; i < a->profile->column_count; i++)
		buf_printf(&names, "%s%s", i ? ", " : "", a->profile->columns[i].name);
	return err_set(err, -EINVAL, "column=%.80s: this run has no such column; it has %s", wanted ? wanted : "",
		       names.size ? names.data : "none");
}

bool run_query(struct run_query *a, const struct server_context *s, const char *rest, const struct request *q, struct response *r)
{
	struct store_profile_limits most = { .nodes = s->max_nodes, .chart = true };
	struct err err = { 0 };
	int e;

	if (!run_query_address(a, rest, q, r))
		return false;
	e = parse_params(a, q, &err);
	if (e >= 0) {
		most.column = params_get(&a->params, "column");
		e = store_get_run(s->options.store, a->source, a->id, &most, &a->run, &a->profile, &err);
	}
	if (e >= 0) {
		a->pruned = e;
		e = choose_column(a, &err);
	}
	if (e == -ENOENT)
		response_error(r, q, 404, "%s", err.text);
	else if (e < 0)
		profile_query_refuse(r, q, e, &err);
	return e >= 0;
}

void run_query_done(struct run_query *a)
{
	store_run_done(&a->run);
	profile_free(a->profile);
	params_done(&a->params);
}

int64_t run_pruned_sum(struct profile *p, uint32_t column)
{
	uint32_t frame = profile_pruned_frame(p);
	int64_t sum = 0;

	for (uint32_t i = 1; i < p->node_count; i++)
		if (p->node_frames[i] == frame)
			saturating_add(&sum, p->columns[column].self[i]);
	return sum;
}

static bool has_pruned_edges(struct profile *p)
{
	const struct edges *e = p->edges;
	uint32_t frame = profile_pruned_frame(p);

	for (uint32_t n = 1; e && n < e->node_count; n++)
		if (e->nodes[n].frame == frame)
			return true;
	return false;
}

void run_put_pruned(struct profile *p, const char *column, int64_t sum, int64_t of, struct buf *out)
{
	buf_puts(out, "the smallest stacks, with ");
	amount_put_percent(out, sum, of);
	buf_puts(out, " % of ");
	text_put_plain(out, (struct str){ column, strlen(column) });
	buf_printf(out, ", are cut short at " PROFILE_PRUNED "%s: the whole run takes more memory than "
			"--query-memory allows",
		   has_pruned_edges(p) ? ", and the smallest functions are merged under that name" : "");
}

const char *run_warn(const struct run_query *a, struct response *r)
{
	_cleanup_(buf_done) struct buf b = { 0 };

	r->pruned = a->pruned;
	if (!a->pruned)
		return NULL;
	buf_init(&b);
	run_put_pruned(a->profile, a->profile->columns[a->column].name, run_pruned_sum(a->profile, a->column),
		       profile_sum(a->profile, a->column), &b);
	return r->warning = arena_copy(&r->bytes, b.data, b.size);
}

void run_picture(const struct run_query *a, const struct request *q, struct response *r)
{
	_cleanup_(buf_done) struct buf title = { 0 }, subtitle = { 0 };
	const char *wanted = params_get(&a->params, "title");
	struct flamegraph_options o;
	struct err err = { 0 };
	char at[32];
	int e;

	buf_init(&title);
	buf_init(&subtitle);
	buf_puts(&title, wanted && *wanted ? wanted : a->run.name ? a->run.name : a->run.url ? a->run.url :
		 a->run.source);
	clock_format(a->run.start_ns, at, sizeof(at));
	buf_printf(&subtitle, "%s of run %s/%s at %s", a->profile->columns[a->column].name, a->source, a->id, at);
	flamegraph_defaults(&o);
	o.title = title.data;
	o.subtitle = subtitle.data;
	o.column = a->column;
	o.reverse = a->reverse;
	o.inverted = a->inverted;
	run_warn(a, r);
	e = flamegraph_svg(a->profile, &o, &r->body, &err);
	if (e < 0)
		profile_query_refuse(r, q, e, &err);
	else
		r->type = "image/svg+xml";
}
