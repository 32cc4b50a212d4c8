/* otlp_read.c: reads resources, their profiles and samples. Each profile is walked twice, the first time to check
 * it. */
#include "otlp_read.h"

#include "mem.h"
#include "otlp.h"
#include "otlp_dictionary.h"
#include "pprof.h"
#include "saturate.h"

#include <string.h>

struct reader {
	struct pushed *pushed;
	struct otlp_dictionary dictionary;
	struct labels resource;			/* labels of the resource */
	int resource_code;			/* -ERANGE: it has an index out of range, so its profiles are refused */
	struct str executable;			/* process.executable.name, from resource, profile or sample */
	enum otlp_layout layout;
	bool from_json;
	struct otlp_outcome *outcome;
	struct err *err;
};

/* Iterates over a repeated number: packed, in parts, or one by one. */
struct numbers {
	struct protobuf rest;			/* unread part of the message */
	uint32_t number;			/* field number; 0: none */
	bool fixed;				/* 8 bytes each, when packed */
	struct protobuf_field f;
	bool damaged;
};

/* State of the profile that is being read. */
struct profile_facts {
	struct str type, unit, period_type, period_unit;
	int64_t time_ns, duration_ns, period;
	struct numbers attributes;
	struct pushed_metadata facts;
	char column[64], column_unit[64];
	int64_t scale;
};

/* The fields of a sample in either layout. */
struct sample {
	const struct otlp_stack *stack;		/* NULL: none */
	struct numbers attributes, values, times;
	size_t value_count, time_count;
};

static int bad(struct reader *r, const char *what)
{
	return err_set(r->err, -EINVAL, "%s", what);
}

static bool fixed_next(struct protobuf_field *f, uint64_t *ret)
{
	uint64_t v = 0;

	if (f->type != 2)
		return protobuf_packed(f, ret);
	if (f->bytes.end - f->bytes.p < 8)
		return false;
	for (unsigned i = 0; i < 8; i++)
		v |= (uint64_t)f->bytes.p[i] << (8 * i);
	f->bytes.p += 8;
	*ret = v;
	return true;
}

/* Returns false at the end and on damage. */
static bool numbers_next(struct numbers *n, uint64_t *ret)
{
	while (n->number) {
		if (n->f.number == n->number && (n->fixed ? fixed_next(&n->f, ret) : protobuf_packed(&n->f, ret)))
			return true;
		n->damaged |= n->f.type == 2 && n->f.number == n->number && n->f.bytes.p != n->f.bytes.end;
		if (!protobuf_next(&n->rest, &n->f))
			break;
	}
	return false;
}

/* --- Labels --- */

static void put_label(struct reader *r, struct labels *l, struct str key, struct str value)
{
	static const struct str host = { "host", 4 };

	if (!key.n || !value.p)
		return;
	if (key.n == 9 && !memcmp(key.p, "host.name", 9))
		key = host;
	if (key.n == 23 && !memcmp(key.p, "process.executable.name", 23))
		r->executable = value;
	pushed_label(r->pushed, l, key, value);
}

static int put_attributes(struct reader *r, struct labels *l, struct numbers n)
{
	const struct otlp_attribute *a;
	uint64_t index;
	int e;

	while (numbers_next(&n, &index)) {
		if ((e = otlp_attribute(&r->dictionary, index, &a, r->err)) < 0)
			return e;
		if (!a || !l)
			continue;
		if ((e = pushed_attribute(r->pushed, r->err)) < 0)
			return e;
		put_label(r, l, a->key, a->value);
	}
	return n.damaged ? bad(r, "a list of attributes is damaged") : 0;
}

/* Without a name, uses the default of the semantic conventions. */
static void name_service(struct reader *r, struct labels *l)
{
	char name[256];
	int n;

	if (labels_get(l, "service_name"))
		return;
	n = snprintf(name, sizeof(name), "unknown_service%s%.*s", r->executable.n ? ":" : "",
		     (int)(r->executable.n < 200 ? r->executable.n : 200), r->executable.n ? r->executable.p : "");
	labels_set(l, "service_name", 12, name, (size_t)n);
}

static int read_resource(struct reader *r, struct protobuf m)
{
	struct protobuf_field f, g;
	int e = 0;

	while (e >= 0 && protobuf_next(&m, &f)) {
		struct str key = { "", 0 }, value = { NULL, 0 };
		struct protobuf pair = f.bytes;
		char number[24] = "";

		if (f.number != OTLP_RESOURCE_ATTRIBUTES || f.type != 2)
			continue;
		while (e >= 0 && protobuf_next(&pair, &g)) {
			if (g.number == OTLP_KEY && g.type == 2)
				key = (struct str){ (const char *)g.bytes.p, (size_t)(g.bytes.end - g.bytes.p) };
			else if (g.number == OTLP_KEY_INDEX && g.type == 0 && g.value)
				e = otlp_string(&r->dictionary, g.value, &key, r->err);
			else if (g.number == OTLP_VALUE && g.type == 2)
				e = otlp_any_value(&r->dictionary, g.bytes, number, &value, r->err);
		}
		if (e >= 0 && pair.p != pair.end)
			e = bad(r, "an attribute of a resource is damaged or truncated");
		/* `value` may point into `number`, which goes out of scope; a number cannot be an executable's name. */
		if (e >= 0)
			put_label(r, &r->resource, key, value);
		if (r->executable.p == number)
			r->executable = (struct str){ "", 0 };
	}
	return e < 0 ? e : m.p == m.end ? 0 : bad(r, "a resource is damaged or truncated");
}

/* --- Samples --- */

static int read_sample(struct reader *r, struct protobuf m, struct sample *s)
{
	bool old = r->layout == OTLP_LAYOUT_1_9;
	struct numbers values;
	struct protobuf_field f;
	uint64_t number, stack = 0;
	int e;

	*s = (struct sample){
		.attributes = { .rest = m, .number = old ? OTLP_OLD_SAMPLE_ATTRIBUTES : OTLP_SAMPLE_ATTRIBUTES },
		.values = { .rest = m, .number = old ? OTLP_OLD_SAMPLE_VALUES : OTLP_SAMPLE_VALUES },
		.times = { .rest = m, .number = OTLP_SAMPLE_TIMES, .fixed = !r->from_json },
	};
	while (protobuf_next(&m, &f))
		if (f.number == OTLP_SAMPLE_STACK)
			stack = f.value;
	if (m.p != m.end)
		return bad(r, "a sample is damaged or truncated");
	if ((e = otlp_stack(&r->dictionary, stack, &s->stack, r->err)) < 0)
		return e;
	for (values = s->values; numbers_next(&values, &number);)
		s->value_count++;
	return values.damaged ? bad(r, "the values of a sample are damaged") : 0;
}

static int check_times(struct reader *r, struct sample *s)
{
	struct numbers times = s->times;
	uint64_t time;

	while (numbers_next(&times, &time)) {
		if (time > INT64_MAX)
			return bad(r, "a timestamp is after the year 2262");
		s->time_count++;
	}
	if (times.damaged)
		return bad(r, "the timestamps of a sample are damaged");
	if (s->time_count ? s->value_count && s->value_count != s->time_count : s->value_count != 1)
		return err_set(r->err, -EINVAL, "a sample has %zu values and %zu timestamps: it needs one value, or timestamps, or as "
			       "many of both", s->value_count, s->time_count);
	return 0;
}

/* Leaf first, as in the message. */
static uint32_t places_of(const struct otlp_dictionary *d, const struct otlp_stack *stack, struct line_place *ret)
{
	struct protobuf m = stack ? stack->bytes : (struct protobuf){ NULL, NULL };
	struct protobuf_field f;
	uint64_t index;
	uint32_t n = 0;

	while (stack && protobuf_next(&m, &f))
		while (f.number == OTLP_STACK_LOCATIONS && protobuf_packed(&f, &index)) {
			const struct otlp_location *l = &d->locations[index];

			memcpy(ret + n, d->lines + l->first, l->count * sizeof(*ret));
			n += l->count;
		}
	return n;
}

/* Adds a value to the bucket of its time. */
static int add_value(struct reader *r, const struct profile_facts *p, const struct labels *labels, const struct sample *s,
		     int64_t time_ns, int64_t value)
{
	struct line_place places[PUSHED_DEPTH_MAX];
	uint32_t depth = places_of(&r->dictionary, s->stack, places), node = PROFILE_ROOT, column;
	struct pushed_metadata facts = p->facts;
	struct profile *to;
	int e;

	if (time_ns)
		facts.start_ns = facts.end_ns = time_ns;
	if ((e = pushed_series(r->pushed, labels, &facts, &to, r->err)) < 0)
		return e;
	column = profile_column(to, p->column, p->column_unit);
	if (column == UINT32_MAX)
		return err_set(r->err, -E2BIG, "it exceeds the limit of %u types of values in one series", PROFILE_COLUMNS);
	for (uint32_t i = depth; i-- > 0;)
		if ((e = pushed_child(r->pushed, to, &node, r->dictionary.frames, places[i].frame, places[i].line, r->err)) < 0)
			return e;
	profile_add(to, pushed_leaf(to, node), column, saturating_product(value, p->scale));
	return 0;
}

static int add_sample(struct reader *r, const struct profile_facts *p, const struct labels *labels, const struct sample *s)
{
	struct numbers values = s->values, times = s->times;
	uint64_t value = 1, time = 0;
	int e = 0;

	if (!s->time_count) {
		numbers_next(&values, &value);
		return add_value(r, p, labels, s, 0, (int64_t)value);
	}
	while (e >= 0 && numbers_next(&times, &time)) {
		if (s->value_count)
			numbers_next(&values, &value);
		e = add_value(r, p, labels, s, (int64_t)time, (int64_t)value);
	}
	return e;
}

/* --- Profiles --- */

static int read_type(struct reader *r, struct protobuf m, struct str *type, struct str *unit)
{
	struct protobuf_field f;
	int e = 0;

	while (e >= 0 && protobuf_next(&m, &f)) {
		if (f.number == OTLP_TYPE)
			e = otlp_string(&r->dictionary, f.value, type, r->err);
		else if (f.number == OTLP_UNIT)
			e = otlp_string(&r->dictionary, f.value, unit, r->err);
	}
	return e < 0 ? e : m.p == m.end ? 0 : bad(r, "the type of a profile is damaged");
}

static bool is_word(struct str s, const char *word)
{
	return s.n == strlen(word) && !memcmp(s.p, word, s.n);
}

static void decide_facts(struct profile_facts *p)
{
	char period[64], period_unit[64];
	int64_t scale = pprof_column(p->period_type, p->period_unit, period, period_unit), end;
	struct pushed_metadata *f = &p->facts;

	p->scale = pprof_column(p->type, p->unit, p->column, p->column_unit);
	if (!strcmp(period_unit, "nanoseconds") && p->period > 0)
		f->period_ns = saturating_product(p->period, scale);
	f->clock = !strcmp(p->column, "cpu_ns") ? STROBE_CLOCK_CPU :
		   !strcmp(p->column, "wall_ns") || !strcmp(p->column, "off_cpu_ns") ? STROBE_CLOCK_WALL :
		   is_word(p->period_type, "cpu") ? STROBE_CLOCK_CPU :
		   is_word(p->period_type, "wall") ? STROBE_CLOCK_WALL : STROBE_CLOCK_NONE;
	f->start_ns = f->end_ns = p->time_ns > 0 ? p->time_ns : 0;
	if (f->start_ns && p->duration_ns > 0 && !__builtin_add_overflow(f->start_ns, p->duration_ns, &end))
		f->end_ns = end;
}

/* In 1.8 the attributes are field 12; field 11 is the original payload. */
static uint32_t attributes_number(struct protobuf m)
{
	uint32_t number = OTLP_PROFILE_ATTRIBUTES;
	struct protobuf_field f;

	while (protobuf_next(&m, &f))
		if (f.number == 12 || (f.number == 8 && f.type == 2))
			number = 12;
	return number;
}

static int read_facts(struct reader *r, struct protobuf m, struct profile_facts *p)
{
	struct protobuf_field f;
	int e = 0;

	*p = (struct profile_facts){
		.type = { "", 0 }, .unit = { "", 0 }, .period_type = { "", 0 }, .period_unit = { "", 0 },
		.attributes = { .rest = m, .number = attributes_number(m) },
	};
	while (e >= 0 && protobuf_next(&m, &f)) {
		if (f.number == OTLP_SAMPLE_TYPE && f.type == 2)
			e = read_type(r, f.bytes, &p->type, &p->unit);
		else if (f.number == OTLP_PERIOD_TYPE && f.type == 2)
			e = read_type(r, f.bytes, &p->period_type, &p->period_unit);
		else if (f.number == OTLP_TIME)
			p->time_ns = (int64_t)f.value;
		else if (f.number == OTLP_DURATION)
			p->duration_ns = (int64_t)f.value;
		else if (f.number == OTLP_PERIOD)
			p->period = (int64_t)f.value;
	}
	if (e < 0 || m.p != m.end)
		return e < 0 ? e : bad(r, "a profile is damaged or truncated");
	decide_facts(p);
	return 0;
}

/* Adds labels from general to specific, so that a sample's attribute overrides the resource's. */
static int labels_of(struct reader *r, const struct profile_facts *p, const struct sample *s, struct labels *ret)
{
	struct str executable = r->executable;
	int e;

	labels_copy(ret, &r->resource);
	if ((e = put_attributes(r, ret, p->attributes)) < 0 || (e = put_attributes(r, ret, s->attributes)) < 0)
		return e;
	name_service(r, ret);
	r->executable = executable;
	return 0;
}

/* Checks or adds the sample, depending on the pass. */
static int do_sample(struct reader *r, const struct profile_facts *p, struct protobuf m, bool adds)
{
	_cleanup_(labels_done) struct labels labels = { 0 };
	struct sample s;
	int e;

	if ((e = read_sample(r, m, &s)) < 0 || (e = check_times(r, &s)) < 0)
		return e;
	if (!adds) {
		if (s.stack && s.stack->depth > PUSHED_DEPTH_MAX)
			return err_set(r->err, -EINVAL, "a stack exceeds the limit of %u frames", PUSHED_DEPTH_MAX);
		return put_attributes(r, NULL, s.attributes);
	}
	labels_init(&labels);
	if ((e = labels_of(r, p, &s, &labels)) < 0)
		return e;
	return add_sample(r, p, &labels, &s);
}

static int do_samples(struct reader *r, const struct profile_facts *p, struct protobuf m, bool adds)
{
	struct protobuf_field f;
	int e = 0;

	while (e >= 0 && protobuf_next(&m, &f))
		if (f.number == OTLP_SAMPLES && f.type == 2)
			e = do_sample(r, p, f.bytes, adds);
	return e;
}

static int read_profile(struct reader *r, struct protobuf m)
{
	struct profile_facts p;
	int e;

	r->outcome->profiles++;
	if ((e = r->resource_code) >= 0 && (e = read_facts(r, m, &p)) >= 0 && (e = put_attributes(r, NULL, p.attributes)) >= 0)
		e = do_samples(r, &p, m, false);
	if (e < 0) {
		if (!r->outcome->rejected++)
			r->outcome->why = *r->err;
		return 0;
	}
	return do_samples(r, &p, m, true);
}

/* --- Top level --- */

static int read_scope(struct reader *r, struct protobuf m)
{
	struct protobuf_field f;
	int e = 0;

	while (e >= 0 && protobuf_next(&m, &f))
		if (f.number == OTLP_PROFILES && f.type == 2)
			e = read_profile(r, f.bytes);
	return e < 0 ? e : m.p == m.end ? 0 : bad(r, "a scope is damaged or truncated");
}

/* The resource may come after its profiles. */
static int read_resource_profiles(struct reader *r, struct protobuf all)
{
	struct protobuf m = all;
	struct protobuf_field f;
	int e = 0;

	labels_done(&r->resource);
	labels_init(&r->resource);
	r->executable = (struct str){ "", 0 };
	r->resource_code = 0;
	while (e >= 0 && protobuf_next(&m, &f)) {
		if (f.number != OTLP_RESOURCE || f.type != 2)
			continue;
		e = read_resource(r, f.bytes);
		if (e == -ERANGE) {
			r->resource_code = e;
			e = 0;
		}
	}
	if (e < 0 || m.p != m.end)
		return e < 0 ? e : bad(r, "the profiles of a resource are damaged or truncated");
	while (e >= 0 && protobuf_next(&all, &f))
		if (f.number == OTLP_SCOPE_PROFILES && f.type == 2)
			e = read_scope(r, f.bytes);
	return e;
}

static int find_dictionary(struct reader *r, struct protobuf m)
{
	struct protobuf dictionary = { NULL, NULL };
	struct protobuf_field f;

	while (protobuf_next(&m, &f))
		if (f.number == OTLP_DICTIONARY && f.type == 2)
			dictionary = f.bytes;
	if (m.p != m.end)
		return bad(r, "the message is damaged or truncated");
	return otlp_dictionary_read(&r->dictionary, dictionary, r->err);
}

int otlp_read(struct pushed *p, const void *bytes, size_t n, bool from_json, struct otlp_outcome *ret, struct err *err)
{
	struct protobuf all = { bytes, (const uint8_t *)bytes + n };
	struct reader r = { .pushed = p, .from_json = from_json, .outcome = ret, .err = err, .layout = OTLP_LAYOUT_1_10 };
	struct protobuf_field f;
	int e;

	*ret = (struct otlp_outcome){ 0 };
	e = otlp_layout(bytes, n, from_json, &r.layout, err);
	if (e >= 0)
		e = find_dictionary(&r, all);
	labels_init(&r.resource);
	while (e >= 0 && protobuf_next(&all, &f))
		if (f.number == OTLP_RESOURCE_PROFILES && f.type == 2)
			e = read_resource_profiles(&r, f.bytes);
	labels_done(&r.resource);
	otlp_dictionary_done(&r.dictionary);
	return e;
}
