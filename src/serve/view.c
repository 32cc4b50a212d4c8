/* view.c: from parameters to a query of the store, with a sentence for everything that makes no sense. */

#include "view.h"

#include "clock.h"
#include "text.h"

#include <assert.h>
#include <string.h>

const char *const view_reserved[] = {
	"from", "to", "step", "format", "limit", "column", "title", "reverse", "inverted", NULL,
};

static bool is_reserved(const char *key)
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
		return err_set(err, -EINVAL, "from=%.40s is not before to=%.40s, so the range holds nothing", v->from,
			       v->to);
	return 0;
}

static int64_t round_up(int64_t v, int64_t unit)
{
	return (v + unit - 1) / unit * unit;
}

/* The roundest step that gives about VIEW_STEPS of them. */
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

/* "label.host" is the label "host", which a parameter of that name could not ask for if it meant something else. */
static const char *filter_key(const char *key)
{
	return strncmp(key, "label.", 6) ? key : key + 6;
}

struct label_filter view_filter(struct arena *bytes, const char *key, const char *text)
{
	struct label_filter f = { .key = filter_key(key), .value = text, .match = LABEL_IS };
	size_t n = strlen(text);

	assert(n > 0);
	if (*text == '=') {
		f.value = text + 1;
	} else if (*text == '!') {
		f.value = text + 1;
		f.match = LABEL_IS_NOT;
	} else if (text[n - 1] == '*') {
		f.value = arena_copy(bytes, text, n - 1);
		f.match = LABEL_IS_PREFIX;
	}
	return f;
}

int view_parse(struct view *v, const struct params *p, int64_t now_ns, struct err *err)
{
	const char *text;
	int r;

	*v = (struct view){ .now_ns = now_ns };
	arena_init(&v->bytes);

	if ((r = parse_range(v, p, err)) < 0 || (r = parse_step(v, p, err)) < 0 || (r = parse_limit(v, p, err)) < 0 ||
	    (r = parse_bool(p, "reverse", &v->reverse, err)) < 0 ||
	    (r = parse_bool(p, "inverted", &v->inverted, err)) < 0)
		return r;

	v->format = (text = params_get(p, "format")) && *text ? text : NULL;
	v->column = (text = params_get(p, "column")) && *text ? text : NULL;
	v->title = (text = params_get(p, "title")) && *text ? text : NULL;
	for (size_t i = 0; i < p->count; i++)
		if (!is_reserved(p->items[i].key) && *p->items[i].value)
			v->filters[v->filter_count++] = view_filter(&v->bytes, p->items[i].key, p->items[i].value);
	return 0;
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

void view_describe(const struct view *v, struct buf *out)
{
	static const char *const words[] = {
		[LABEL_IS] = "=", [LABEL_IS_NOT] = " not ", [LABEL_IS_PREFIX] = " beginning with ",
	};
	char from[32], to[32];

	buf_puts(out, "samples");
	for (size_t i = 0; i < v->filter_count; i++) {
		const struct label_filter *f = &v->filters[i];

		assert(f->match < ARRAY_SIZE(words));
		buf_printf(out, "%s%s%s", i ? ", " : " of ", f->key, words[f->match]);
		text_put_plain(out, (struct str){ f->value, strlen(f->value) });
	}
	clock_format(v->from_ns, from, sizeof(from));
	clock_format(v->to_ns, to, sizeof(to));
	buf_printf(out, " between %s and %s", from, to);
}
