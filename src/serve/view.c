/* view.c: turns parameters into a query of the store, with an error message for anything invalid. */

#include "view.h"

#include "clock.h"
#include "text.h"

#include <assert.h>
#include <string.h>

const char *const view_reserved[] = {
	"from",
	"to",
	"step",
	"format",
	"limit",
	"column",
	"title",
	"reverse",
	"inverted",
	"lines",
	"run",
	"weights",
	"base",
	"base_from",
	"base_to",
	"scale",
	"by",
	"function",
	"function_file",
	"threshold",
	"sort",
	"split",
	"chart_from",
	"chart_to",
	"chart_search",
	"chart_match",
	"pixels",
	"zoom",
	"side",
	"keep",
	"keep-i",
	"remove",
	"remove-i",
	"width",
	NULL,
};

const char *const view_scale_names[DIFF_BY_REQUESTS + 1] = {
	[DIFF_AS_IT_IS] = "none", [DIFF_BY_TOTAL] = "total", [DIFF_BY_RATE] = "rate", [DIFF_BY_REQUESTS] = "requests",
};

bool view_is_reserved(const char *key)
{
	for (size_t i = 0; view_reserved[i]; i++)
		if (strcmp(view_reserved[i], key) == 0)
			return true;
	return false;
}

static int parse_bool(const struct params *p, const char *key, bool *ret, struct err *err)
{
	const char *text = params_get(p, key);

	if (!text || !*text || strcmp(text, "0") == 0) {
		*ret = false;
		return 0;
	}
	if (strcmp(text, "1") != 0)
		return err_set(err, -EINVAL, "%s=%.40s: give 1 or 0", key, text);
	*ret = true;
	return 0;
}

static int parse_lines(struct view *v, const struct params *p, struct err *err)
{
	const char *text = params_get(p, "lines");

	v->has_lines = text && *text;
	v->all_lines = v->has_lines && !strcmp(text, "all");
	v->lines = v->all_lines || (v->has_lines && !strcmp(text, "1"));
	if (v->has_lines && !v->lines && strcmp(text, "0"))
		return err_set(err, -EINVAL, "lines=%.40s: give 1, 0 or all", text);
	return 0;
}

static int parse_limit(struct view *v, const struct params *p, struct err *err)
{
	const char *text = params_get(p, "limit");
	size_t limit = 0;

	if (!text || !*text)
		return 0;
	for (const char *c = text; *c; c++) {
		if (*c < '0' || *c > '9' || limit > 100000000)
			return err_set(err, -EINVAL, "limit=%.40s: give a number of rows, 0 for all", text);
		limit = limit * 10 + (size_t)(*c - '0');
	}
	v->limit = limit;
	v->has_limit = true;
	return 0;
}

static int parse_range(struct view *v, const struct params *p, struct err *err)
{
	const char *from = params_get(p, "from"), *to = params_get(p, "to");
	struct err why;
	int r;

	v->to = to && *to ? to : "now";
	r = clock_parse_time(v->to, v->now_ns, &v->to_ns, &why);
	if (r < 0)
		return err_set(err, -EINVAL, "to: %s", why.text);

	v->from = from && *from ? from : "-1h";
	if (from && *from) {
		r = clock_parse_time(from, v->now_ns, &v->from_ns, &why);
		if (r < 0)
			return err_set(err, -EINVAL, "from: %s", why.text);
	} else {
		v->from_ns = v->to_ns - VIEW_DEFAULT_NS;
	}

	if (v->from_ns >= v->to_ns)
		return err_set(err, -EINVAL, "from=%.40s is not before to=%.40s, so the range is empty", v->from,
			       v->to);
	return 0;
}

static int64_t round_up(int64_t v, int64_t unit)
{
	return (v + unit - 1) / unit * unit;
}

/* The roundest step that gives about VIEW_STEPS steps. */
static int64_t choose_step(int64_t length_ns)
{
	static const int seconds[] = { 10, 20, 30, 60, 120, 300, 600, 900, 1800, 3600, 7200, 14400, 21600, 43200 };

	for (size_t i = 0; i < ARRAY_SIZE(seconds); i++)
		if (length_ns / (seconds[i] * NS_PER_SECOND) <= VIEW_STEPS)
			return seconds[i] * NS_PER_SECOND;
	return round_up(length_ns / VIEW_STEPS, NS_PER_DAY);
}

static int parse_step(struct view *v, const struct params *p, struct err *err)
{
	const char *text = params_get(p, "step");
	int64_t length = v->to_ns - v->from_ns, step = choose_step(length);
	struct err why;

	if (text && *text) {
		if (clock_parse_duration(text, &step, &why) < 0)
			return err_set(err, -EINVAL, "step: %s", why.text);
		if (step <= 0 || step % BATCH_BUCKET_NS)
			return err_set(err, -EINVAL, "step=%.40s: give a multiple of %lld seconds", text,
				       BATCH_BUCKET_NS / NS_PER_SECOND);
		if (length / step >= VIEW_STEPS_MAX)
			return err_set(err, -EINVAL, "step=%.40s would make more than %u steps; give a longer one",
				       text, VIEW_STEPS_MAX);
	}
	v->step_ns = step;
	v->steps = (size_t)(round_up(length, step) / step);
	return 0;
}

/* --- Runs and comparisons --- */

static int parse_run(const char *key, const char *text, struct view_run *ret, struct err *err)
{
	const char *slash = strchr(text, '/');

	if (!slash || !strobe_wire_is_run_key(text, (size_t)(slash - text)) ||
	    !strobe_wire_is_run_key(slash + 1, strlen(slash + 1)))
		return err_set(err, -EINVAL, "%s=%.80s: a run is given as its source and its id, as in shop/20261121-1", key,
			       text);
	memcpy(ret->source, text, (size_t)(slash - text));
	ret->source[slash - text] = 0;
	strcpy(ret->id, slash + 1);
	ret->weight = 1;
	return 0;
}

static int parse_weights(struct view *v, const char *text, struct err *err)
{
	const char *at = text;
	uint64_t sum = 0;

	for (size_t i = 0; i < v->run_count; i++) {
		char *end;

		if (*at < '0' || *at > '9')
			break;
		v->runs[i].weight = strtoull(at, &end, 10);
		if (v->runs[i].weight > REPORT_WEIGHT_MAX)
			return err_set(err, -EINVAL, "weights=%.80s: a weight is at most %llu", text,
				       (unsigned long long)REPORT_WEIGHT_MAX);
		sum += v->runs[i].weight;
		at = end;
		if (i + 1 == v->run_count && !*at && sum)
			return 0;
		if (*at++ != ',')
			break;
	}
	return err_set(err, -EINVAL, "weights=%.80s: give %zu whole number%s, one for each run, not all 0, as in 2,1", text,
		       v->run_count, v->run_count == 1 ? "" : "s");
}

static int parse_runs(struct view *v, const struct params *p, struct err *err)
{
	const char *weights = params_get(p, "weights");
	int r;

	for (size_t i = 0; i < p->count; i++) {
		if (strcmp(p->items[i].key, "run") || !*p->items[i].value)
			continue;
		if (v->run_count == VIEW_RUNS_MAX)
			return err_set(err, -EINVAL, "run=: at most %u runs can be averaged", VIEW_RUNS_MAX);
		r = parse_run("run", p->items[i].value, &v->runs[v->run_count++], err);
		if (r < 0)
			return r;
	}
	return weights && *weights ? parse_weights(v, weights, err) : 0;
}

static int parse_moment(const char *key, const char *text, int64_t now_ns, int64_t *ret, struct err *err)
{
	struct err why;

	return clock_parse_time(text, now_ns, ret, &why) < 0 ? err_set(err, -EINVAL, "%s: %s", key, why.text) : 0;
}

static bool is_base_label(const char *key)
{
	return !strncmp(key, "base.", 5);
}

static bool has_base_labels(const struct params *p)
{
	for (size_t i = 0; i < p->count; i++)
		if (is_base_label(p->items[i].key) && *p->items[i].value)
			return true;
	return false;
}

static int parse_base(struct view *v, const struct params *p, struct err *err)
{
	const char *run = params_get(p, "base"), *from = params_get(p, "base_from"), *to = params_get(p, "base_to");
	int r;

	v->has_base_labels = has_base_labels(p);
	v->has_base = (run && *run) || (from && *from) || v->has_base_labels;
	if (run && *run)
		return parse_run("base", run, &v->base_run, err);
	v->base_from_ns = v->from_ns;
	v->base_to_ns = v->to_ns;
	if (!from || !*from)
		return 0;
	to = to && *to ? to : "now";
	if ((r = parse_moment("base_from", from, v->now_ns, &v->base_from_ns, err)) < 0 ||
	    (r = parse_moment("base_to", to, v->now_ns, &v->base_to_ns, err)) < 0)
		return r;
	if (v->base_from_ns >= v->base_to_ns)
		return err_set(err, -EINVAL, "base_from=%.40s is not before base_to=%.40s, so the "
					     "range is empty", from, to);
	return 0;
}

/* One side of a comparison is a view of its own. */
static int take_side(struct view *v, const struct params *p, struct err *err)
{
	const char *side = params_get(p, "side"), *from = params_get(p, "base_from"), *to = params_get(p, "base_to");

	if (!side || !*side)
		return 0;
	if (strcmp(side, "before") && strcmp(side, "after"))
		return err_set(err, -EINVAL, "side=%.40s: give before or after", side);
	if (!v->has_base)
		return err_set(err, -EINVAL, "side=%s: only a comparison has sides; give base, base_from or base.KEY", side);
	v->has_base = v->has_base_labels = false;
	if (!strcmp(side, "after"))
		return 0;
	v->run_count = *v->base_run.id != 0;
	if (v->run_count) {
		v->runs[0] = v->base_run;
		return 0;
	}
	v->from_ns = v->base_from_ns;
	v->to_ns = v->base_to_ns;
	if (from && *from) {
		v->from = from;
		v->to = to && *to ? to : "now";
	}
	memcpy(v->filters, v->base_filters, sizeof(v->filters));
	v->filter_count = v->base_filter_count;
	return 0;
}

static int parse_scale(struct view *v, const struct params *p, struct err *err)
{
	const char *text = params_get(p, "scale");

	if (!text || !*text)
		return 0;
	for (size_t i = 0; i < ARRAY_SIZE(view_scale_names); i++)
		if (!strcmp(view_scale_names[i], text)) {
			v->scale = (enum diff_scale)i;
			v->has_scale = true;
			return 0;
		}
	return err_set(err, -EINVAL, "scale=%.40s: give total, rate, requests or none", text);
}

static int parse_width(struct view *v, const struct params *p, struct err *err)
{
	const char *text = params_get(p, "width");

	if (!text || !*text)
		return 0;
	for (size_t i = 0; flamegraph_width_names[i]; i++)
		if (!strcmp(flamegraph_width_names[i], text)) {
			v->width_of = (enum flamegraph_width_of)i;
			return 0;
		}
	return err_set(err, -EINVAL, "width=%.40s: give maximum, after, before or difference", text);
}

static int parse_by(struct view *v, const struct params *p, struct err *err)
{
	const char *text = params_get(p, "by");

	v->by = REPORT_BY_FUNCTION;
	if (!text || !*text || report_by_parse(text, &v->by))
		return 0;
	return err_set(err, -EINVAL, "by=%.40s: give function, line, file, class, namespace, package or own", text);
}

static int parse_sort(struct view *v, const struct params *p, struct err *err)
{
	static const char *const words[] = {
		[REPORT_SORT_SELF] = "self", [REPORT_SORT_TOTAL] = "total", [REPORT_SORT_NAME] = "name",
	};
	const char *text = params_get(p, "sort");

	v->sort = REPORT_SORT_SELF;
	if (!text || !*text)
		return 0;
	for (size_t i = 0; i < ARRAY_SIZE(words); i++)
		if (!strcmp(text, words[i])) {
			v->sort = (enum report_sort)i;
			return 0;
		}
	return err_set(err, -EINVAL, "sort=%.40s: give self, total or name", text);
}

static int parse_threshold(struct view *v, const struct params *p, struct err *err)
{
	const char *text = params_get(p, "threshold");
	char *end;

	v->threshold = -1;
	if (!text || !*text)
		return 0;
	v->threshold = strtod(text, &end);
	if (*end || !(v->threshold >= 0 && v->threshold <= 100))
		return err_set(err, -EINVAL, "threshold=%.40s: give a percentage from 0 to 100", text);
	return 0;
}

static int parse_number(const struct params *p, const char *key, int64_t most, int64_t *ret, struct err *err)
{
	const char *text = params_get(p, key);
	int64_t n = 0;

	if (!text || !*text)
		return 0;
	for (const char *c = text; *c; c++)
		if (*c < '0' || *c > '9' || (n = n * 10 + (*c - '0')) > most)
			return err_set(err, -EINVAL, "%s=%.40s: give a whole number up to %lld", key, text, (long long)most);
	*ret = n;
	return 0;
}

static int parse_chart(struct view *v, const struct params *p, struct err *err)
{
	int64_t pixels = VIEW_PIXELS;
	const char *text;
	int r;

	if ((r = parse_number(p, "chart_from", INT64_MAX / 100, &v->chart_from_ns, err)) < 0 ||
	    (r = parse_number(p, "chart_to", INT64_MAX / 100, &v->chart_to_ns, err)) < 0 ||
	    (r = parse_number(p, "chart_match", INT64_MAX / 100, &v->chart_match, err)) < 0 ||
	    (r = parse_number(p, "pixels", VIEW_PIXELS_MAX, &pixels, err)) < 0)
		return r;
	v->pixels = pixels ? (uint32_t)pixels : 1;
	v->has_pixels = params_get(p, "pixels") && *params_get(p, "pixels");
	v->zoom = params_get(p, "zoom");
	v->chart_search = (text = params_get(p, "chart_search")) && *text ? text : NULL;
	v->has_chart_match = (text = params_get(p, "chart_match")) && *text;
	if (v->has_chart_match && !v->chart_search)
		return err_set(err, -EINVAL, "chart_match=%.40s: give chart_search, too", text);
	if (v->chart_to_ns && v->chart_to_ns <= v->chart_from_ns)
		return err_set(err, -EINVAL, "chart_from=%lld is not before chart_to=%lld, so the window is empty",
			       (long long)v->chart_from_ns, (long long)v->chart_to_ns);
	return 0;
}

static int parse_stack_filters(struct view *v, const struct params *p, struct err *err)
{
	static const char *const keys[] = { "keep", "keep-i", "remove", "remove-i" };

	for (size_t i = 0; i < p->count; i++)
		for (size_t k = 0; k < ARRAY_SIZE(keys); k++) {
			if (strcmp(p->items[i].key, keys[k]) || !*p->items[i].value)
				continue;
			if (v->stack_filter_count == VIEW_STACK_FILTERS)
				return err_set(err, -EINVAL, "%s=%.80s: at most %u filters of stacks apply", keys[k], p->items[i].value, VIEW_STACK_FILTERS);
			v->stack_filters[v->stack_filter_count++] = (struct view_stack_filter){ p->items[i].value, k < 2, k % 2 };
		}
	return 0;
}

void view_set_run(struct view *v, const char *source, const char *id)
{
	assert(strlen(source) <= STROBE_WIRE_RUN_KEY && strlen(id) <= STROBE_WIRE_RUN_KEY);
	v->runs[0] = (struct view_run){ .weight = 1 };
	strcpy(v->runs[0].source, source);
	strcpy(v->runs[0].id, id);
	v->run_count = 1;
}

/* "label.host" is the label "host", for names that are also parameters. */
static const char *filter_key(const char *key)
{
	return strncmp(key, "label.", 6) ? key : key + 6;
}

struct label_filter view_filter(struct arena *bytes, const char *key, const char *text)
{
	bool not = *text == '!';
	struct label_filter f = { .key = filter_key(key), .value = text + not, .match = not ? LABEL_IS_NOT : LABEL_IS };
	size_t n = strlen(f.value);

	assert(*text);
	if (*f.value == '=') {
		f.value++;
	} else if (n && f.value[n - 1] == '*') {
		f.value = arena_copy(bytes, f.value, n - 1);
		f.match = not ? LABEL_IS_NOT_PREFIX : LABEL_IS_PREFIX;
	}
	return f;
}

/* Takes the view's filters, except for labels with separate filters for the base. */
static void take_filters(struct view *v, const struct params *p)
{
	for (size_t i = 0; i < p->count; i++) {
		const struct param *q = &p->items[i];

		if (!*q->value || view_is_reserved(q->key))
			continue;
		if (is_base_label(q->key))
			v->base_filters[v->base_filter_count++] = view_filter(&v->bytes, q->key + 5, q->value);
		else
			v->filters[v->filter_count++] = view_filter(&v->bytes, q->key, q->value);
	}
	for (size_t i = 0, own = v->base_filter_count; i < v->filter_count; i++) {
		size_t k = 0;

		while (k < own && strcmp(v->base_filters[k].key, v->filters[i].key) != 0)
			k++;
		if (k == own)
			v->base_filters[v->base_filter_count++] = v->filters[i];
	}
}

int view_parse(struct view *v, const struct params *p, int64_t now_ns, struct err *err)
{
	const char *text;
	int r;

	*v = (struct view){ .now_ns = now_ns };
	arena_init(&v->bytes);

	if ((r = parse_range(v, p, err)) < 0 || (r = parse_step(v, p, err)) < 0 || (r = parse_limit(v, p, err)) < 0 ||
	    (r = parse_bool(p, "reverse", &v->reverse, err)) < 0 ||
	    (r = parse_bool(p, "inverted", &v->inverted, err)) < 0 ||
	    (r = parse_lines(v, p, err)) < 0 || (r = parse_runs(v, p, err)) < 0 ||
	    (r = parse_base(v, p, err)) < 0 || (r = parse_scale(v, p, err)) < 0 || (r = parse_by(v, p, err)) < 0 ||
	    (r = parse_sort(v, p, err)) < 0 || (r = parse_threshold(v, p, err)) < 0 ||
	    (r = parse_chart(v, p, err)) < 0 || (r = parse_stack_filters(v, p, err)) < 0 ||
	    (r = parse_width(v, p, err)) < 0)
		return r;

	v->format = (text = params_get(p, "format")) && *text ? text : NULL;
	v->column = (text = params_get(p, "column")) && *text ? text : NULL;
	v->title = (text = params_get(p, "title")) && *text ? text : NULL;
	v->function = (text = params_get(p, "function")) && *text ? text : NULL;
	v->function_file = v->function && (v->by == REPORT_BY_FUNCTION || v->by == REPORT_BY_OWN) && (text = params_get(p, "function_file")) && *text ? text : NULL;
	v->split = (text = params_get(p, "split")) && *text ? text : NULL;
	take_filters(v, p);
	return take_side(v, p, err);
}

void view_done(struct view *v)
{
	arena_done(&v->bytes);
}

struct store_query view_query(const struct view *v)
{
	return (struct store_query){
		.from_ns = v->from_ns, .to_ns = v->to_ns, .filters = v->filters, .filter_count = v->filter_count,
	};
}

struct store_query view_base_query(const struct view *v)
{
	return (struct store_query){
		.from_ns = v->base_from_ns, .to_ns = v->base_to_ns, .filters = v->base_filters,
		.filter_count = v->base_filter_count,
	};
}

const char *view_label(const struct view *v, const char *key)
{
	const char *value = NULL;

	for (size_t i = 0; i < v->filter_count; i++) {
		if (strcmp(v->filters[i].key, key) != 0)
			continue;
		if (value || v->filters[i].match != LABEL_IS)
			return NULL;
		value = v->filters[i].value;
	}
	return value;
}

void view_describe_filters(const struct label_filter *filters, size_t count, struct buf *out)
{
	static const char *const words[] = {
		[LABEL_IS] = "=",
		[LABEL_IS_NOT] = " not ",
		[LABEL_IS_PREFIX] = " beginning with ",
		[LABEL_IS_NOT_PREFIX] = " not beginning with ",
	};

	for (size_t i = 0; i < count; i++) {
		assert(filters[i].match < ARRAY_SIZE(words));
		buf_printf(out, "%s%s%s", i ? ", " : "", filters[i].key, words[filters[i].match]);
		text_put_plain(out, (struct str){ filters[i].value, strlen(filters[i].value) });
	}
}

void view_put_weight(const struct view *v, size_t run, struct buf *out)
{
	uint64_t sum = 0;
	bool differ = false;

	for (size_t i = 0; i < v->run_count; i++) {
		sum += v->runs[i].weight;
		differ |= v->runs[i].weight != v->runs[0].weight;
	}
	if (differ)
		buf_printf(out, ", weight %llu of %llu", (unsigned long long)v->runs[run].weight, (unsigned long long)sum);
}

void view_describe(const struct view *v, struct buf *out)
{
	char from[32], to[32];

	buf_puts(out, v->filter_count ? "samples of " : "samples");
	view_describe_filters(v->filters, v->filter_count, out);
	clock_format(v->from_ns, from, sizeof(from));
	clock_format(v->to_ns, to, sizeof(to));
	buf_printf(out, " between %s and %s", from, to);
}
