/* otlp_layout.c: detects the layout of a request from the fields of its profiles and samples. */
#include "otlp_layout.h"

#include "otlp.h"
#include "protobuf.h"

#define NUMBER	0u
#define FIXED	1u
#define BYTES	2u

struct evidence {
	bool from_json;
	uint64_t links, attributes;	/* counts in the dictionary */
	bool oldest;			/* 1.7 or older */
	bool old, new;			/* proven */
	bool old_link, new_link, value;	/* a single number that probably means this */
	bool timed, uneven;		/* fields 1, 2 and 5 occur; fields 2 and 5 differ in count in some samples */
	bool no_index;			/* in some of these, a number of 2 is not the index of an attribute, or occurs twice */
};

/* Fields 2 to 5 of a sample. */
struct counted {
	size_t numbers[OTLP_SAMPLE_TIMES + 1];
	bool packed[OTLP_SAMPLE_TIMES + 1];
	uint64_t fourth;		/* the last unpacked number of field 4 */
	uint64_t least, most;		/* values of field 2 */
	uint64_t seen;			/* bit set of values below 64 */
	bool repeated;			/* a value below 64 occurs twice */
};

static void note_range(struct counted *c, struct protobuf_field f)
{
	uint64_t number;

	while (protobuf_packed(&f, &number)) {
		c->least = number < c->least ? number : c->least;
		c->most = number > c->most ? number : c->most;
		if (number < 64) {
			c->repeated |= c->seen >> number & 1;
			c->seen |= UINT64_C(1) << number;
		}
	}
}

static size_t numbers_in(struct protobuf_field f)
{
	uint64_t number;
	size_t n = 0;

	while (protobuf_packed(&f, &number))
		n++;
	return n;
}

static size_t times_in(const struct protobuf_field *f)
{
	return f->type == BYTES ? (size_t)(f->bytes.end - f->bytes.p) / 8 : 1;
}

static struct counted count_fields(struct protobuf m)
{
	struct counted c = { .least = UINT64_MAX };
	struct protobuf_field f;

	while (protobuf_next(&m, &f)) {
		if (f.number < 2 || f.number > OTLP_SAMPLE_TIMES)
			continue;
		c.numbers[f.number] += f.number == OTLP_SAMPLE_TIMES ? times_in(&f) : numbers_in(f);
		c.packed[f.number] |= f.type == BYTES;
		if (f.number == 2)
			note_range(&c, f);
		if (f.number == 4)
			c.fourth = f.value;
	}
	return c;
}

static bool is_list(const struct counted *c, unsigned number)
{
	return c->packed[number] || c->numbers[number] > 1;
}

static void weigh_single_numbers(struct evidence *e, const struct counted *c)
{
	if (c->numbers[4] && c->packed[2] && c->fourth < e->links)
		e->old_link = true;
	else if (c->numbers[4])
		e->value = true;
	else
		e->new_link |= c->numbers[3] > 0;
}

static void scan_sample(struct evidence *e, struct protobuf m)
{
	struct counted c = count_fields(m);
	bool is_timed = c.numbers[OTLP_SAMPLE_TIMES] > 0, is_old = is_list(&c, 3), is_new = is_list(&c, 4);

	is_old |= c.numbers[2] && !c.numbers[4] && !is_timed && !(c.packed[2] && c.numbers[3]);
	is_new |= c.numbers[4] && !c.numbers[2] && !is_timed;
	e->old |= is_old;
	e->new |= is_new;
	if (!is_old && !is_new)
		weigh_single_numbers(e, &c);
	if (is_timed && c.numbers[2] && !c.numbers[3] && !c.numbers[4] && !is_old && !is_new) {
		e->timed = true;
		e->uneven |= c.numbers[2] != c.numbers[OTLP_SAMPLE_TIMES];
		e->no_index |= !c.least || c.repeated || c.most >= e->attributes;
	}
}

static void scan_profile(struct evidence *e, struct protobuf m)
{
	struct protobuf_field f;

	while (protobuf_next(&m, &f)) {
		e->oldest |= (f.number == 3 && f.type == BYTES) || (f.number == OTLP_JSON_OLDEST && e->from_json);
		e->old |= (f.number == 8 && f.type == BYTES) || f.number == 12;
		if (f.number == OTLP_SAMPLES && f.type == BYTES)
			scan_sample(e, f.bytes);
	}
}

/* Attributes whose keys or values are indices of strings came with 1.10. */
static void scan_resource(struct evidence *e, struct protobuf m)
{
	struct protobuf_field attribute, f, value;

	while (protobuf_next(&m, &attribute)) {
		if (attribute.number != OTLP_RESOURCE_ATTRIBUTES || attribute.type != BYTES)
			continue;
		while (protobuf_next(&attribute.bytes, &f)) {
			e->new |= f.number == OTLP_KEY_INDEX && f.type == NUMBER;
			while (f.number == OTLP_VALUE && f.type == BYTES && protobuf_next(&f.bytes, &value))
				e->new |= value.number == OTLP_ANY_STRING_INDEX && value.type == NUMBER;
		}
	}
}

/* Descends the path of fields 1, 2, 2 to each profile. */
static void scan_level(struct evidence *e, struct protobuf m, unsigned level)
{
	static const uint32_t path[] = { OTLP_RESOURCE_PROFILES, OTLP_SCOPE_PROFILES, OTLP_PROFILES };
	struct protobuf_field f;

	while (protobuf_next(&m, &f)) {
		if (level == 1 && f.number == OTLP_RESOURCE && f.type == BYTES)
			scan_resource(e, f.bytes);
		if (f.number != path[level] || f.type != BYTES)
			continue;
		if (level == 2)
			scan_profile(e, f.bytes);
		else
			scan_level(e, f.bytes, level + 1);
	}
}

static void count_dictionary(struct evidence *e, struct protobuf m)
{
	struct protobuf_field f, g;

	while (protobuf_next(&m, &f))
		while (f.number == OTLP_DICTIONARY && f.type == BYTES && protobuf_next(&f.bytes, &g)) {
			e->links += g.number == OTLP_LINKS && g.type == BYTES;
			e->attributes += g.number == OTLP_ATTRIBUTES && g.type == BYTES;
		}
}

int otlp_layout(const void *bytes, size_t n, bool from_json, enum otlp_layout *ret, struct err *err)
{
	struct protobuf all = { bytes, (const uint8_t *)bytes + n };
	struct evidence e = { .from_json = from_json };

	count_dictionary(&e, all);
	scan_level(&e, all, 0);
	if (e.oldest)
		return err_set(err, -EINVAL, "OTLP profiles: this is the layout of opentelemetry-proto 1.7 or "
					     "older; 1.8 to 1.11 are supported. Upgrade the sender.");
	*ret = OTLP_LAYOUT_1_10;
	if (from_json)
		return 0;
	e.new |= e.uneven;
	if (e.old && e.new)
		return err_set(err, -EINVAL, "OTLP profiles: this mixes the layouts of opentelemetry-proto 1.9 "
					     "and 1.10, so its values are ambiguous; use one of 1.8 to "
					     "1.11 per request");
	if (e.old || (!e.new && !e.value && !e.new_link && (e.old_link || (e.timed && e.no_index))))
		*ret = OTLP_LAYOUT_1_9;
	return 0;
}
