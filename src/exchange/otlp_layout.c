/* otlp_layout.c: what the fields of profiles and samples tell, gathered over a request. */
#include "otlp_layout.h"

#include "otlp.h"
#include "protobuf.h"

#define NUMBER	0u
#define FIXED	1u
#define BYTES	2u

struct evidence {
	bool from_json;
	bool oldest;			/* 1.7 or older */
	bool old, new;			/* for certain */
	bool plain;			/* samples of 1 and 2 alone */
	bool timed, uneven;		/* of 1, 2 and 5; and in some, 2 and 5 are not as many */
};

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

static void look_at_sample(struct evidence *e, struct protobuf m)
{
	struct protobuf_field f;
	size_t second = 0, times = 0;
	bool other = false;

	while (protobuf_next(&m, &f)) {
		if (f.number == 2)
			second += numbers_in(f);
		else if (f.number == OTLP_SAMPLE_TIMES)
			times += times_in(&f);
		else if (f.number == 3 || f.number == 4) {
			bool is_new = (f.number == 3) == (f.type == NUMBER);

			other = true;
			e->new |= is_new;
			e->old |= !is_new;
		}
	}
	if (other || !second)
		return;
	e->plain |= !times;
	e->timed |= times > 0;
	e->uneven |= times > 0 && times != second;
}

static void look_at_profile(struct evidence *e, struct protobuf m)
{
	struct protobuf_field f;

	while (protobuf_next(&m, &f)) {
		e->oldest |= (f.number == 3 && f.type == BYTES) || (f.number == OTLP_JSON_OLDEST && e->from_json);
		e->old |= (f.number == 8 && f.type == BYTES) || f.number == 12;
		if (f.number == OTLP_SAMPLES && f.type == BYTES)
			look_at_sample(e, f.bytes);
	}
}

/* Goes down the path of fields 1, 2, 2 to each profile. */
static void look_below(struct evidence *e, struct protobuf m, unsigned level)
{
	static const uint32_t path[] = { OTLP_RESOURCE_PROFILES, OTLP_SCOPE_PROFILES, OTLP_PROFILES };
	struct protobuf_field f;

	while (protobuf_next(&m, &f)) {
		if (f.number != path[level] || f.type != BYTES)
			continue;
		if (level == 2)
			look_at_profile(e, f.bytes);
		else
			look_below(e, f.bytes, level + 1);
	}
}

int otlp_layout(const void *bytes, size_t n, bool from_json, enum otlp_layout *ret, struct err *err)
{
	struct protobuf all = { bytes, (const uint8_t *)bytes + n };
	struct evidence e = { .from_json = from_json };
	bool old, new;

	look_below(&e, all, 0);
	if (e.oldest)
		return err_set(err, -EINVAL, "OTLP profiles: this is the layout of opentelemetry-proto 1.7 or "
					     "older; 1.8 to 1.11 are supported. Upgrade the sender.");
	old = e.old || e.plain;
	new = e.new || e.uneven;
	if (from_json)
		old = false;
	else if (old && new)
		return err_set(err, -EINVAL, "OTLP profiles: this mixes the layouts of opentelemetry-proto 1.9 "
					     "and 1.10, so its values are ambiguous; use one of 1.8 to "
					     "1.11 per request");
	*ret = old || (e.timed && !new && !from_json) ? OTLP_LAYOUT_1_9 : OTLP_LAYOUT_1_10;
	return 0;
}
