/* push_messages.c: reads series, their labels and profiles. */
#include "push_messages.h"

#include "mem.h"
#include "messages.h"
#include "protobuf.h"
#include "push_pprof.h"

#include <string.h>

static const struct message_field sample_fields[] = {
	{ PUSH_SAMPLE_PROFILE, "raw_profile", MESSAGE_BYTES, false, NULL, NULL }, { PUSH_SAMPLE_ID, "ID", MESSAGE_STRING, false, NULL, NULL },
};
static const struct message sample = { "RawSample", sample_fields, ARRAY_SIZE(sample_fields) };

static const struct message_field series_fields[] = {
	{ PUSH_SERIES_LABELS, "labels", MESSAGE_OF, true, &message_label_pair, NULL },
	{ PUSH_SERIES_SAMPLES, "samples", MESSAGE_OF, true, &sample, NULL },
};
static const struct message series = { "RawProfileSeries", series_fields, ARRAY_SIZE(series_fields) };

static const struct message_field request_fields[] = { { PUSH_SERIES, "series", MESSAGE_OF, true, &series, NULL } };
const struct message message_push_request = { "PushRequest", request_fields, ARRAY_SIZE(request_fields) };
const struct message message_push_response = { "PushResponse", NULL, 0 };

static bool is_name(struct str s, const char *word)
{
	return s.n == strlen(word) && !memcmp(s.p, word, s.n);
}

/* Invalid characters in label names are replaced, so two names may become one; the same name twice is the sender's
 * error. */
static int read_label(struct pushed *p, struct protobuf m, struct labels *labels, struct str *name, struct err *err)
{
	struct str key = { "", 0 }, value = { "", 0 };
	struct protobuf_field f;
	size_t before = labels->count;
	uint64_t left_out = p->labels_left_out;

	while (protobuf_next(&m, &f)) {
		if (f.type != 2)
			continue;
		if (f.number == LABEL_PAIR_NAME)
			key = (struct str){ (const char *)f.bytes.p, (size_t)(f.bytes.end - f.bytes.p) };
		else if (f.number == LABEL_PAIR_VALUE)
			value = (struct str){ (const char *)f.bytes.p, (size_t)(f.bytes.end - f.bytes.p) };
	}
	if (!key.n)
		return err_set(err, -EINVAL, "a label has no name");
	if (is_name(key, "__name__")) {
		if (name->n)
			return err_set(err, -EINVAL, "the label '__name__' is a duplicate");
		*name = value;
		return 0;
	}
	pushed_label(p, labels, key, value);
	if (labels->count == before && p->labels_left_out == left_out)
		return err_set(err, -EINVAL, "the label '%.*s' is a duplicate", (int)(key.n < 80 ? key.n : 80), key.p);
	return 0;
}

static int read_sample(struct pushed *p, struct protobuf m, const struct push_metadata *a, struct err *err)
{
	struct protobuf_field f;

	while (protobuf_next(&m, &f))
		if (f.number == PUSH_SAMPLE_PROFILE && f.type == 2)
			return push_pprof(p, a, f.bytes.p, (size_t)(f.bytes.end - f.bytes.p), err);
	return err_set(err, -EINVAL, "a sample of the request has no profile in raw_profile");
}

static int read_series(struct pushed *p, struct protobuf all, struct err *err)
{
	_cleanup_(labels_done) struct labels labels = { 0 };
	struct push_metadata about = { .labels = &labels, .name = { "", 0 } };
	struct protobuf m = all;
	struct protobuf_field f;
	int r = 0;

	labels_init(&labels);
	while (r >= 0 && protobuf_next(&m, &f))
		if (f.number == PUSH_SERIES_LABELS && f.type == 2)
			r = read_label(p, f.bytes, &labels, &about.name, err);
	if (r >= 0 && (!about.name.n || !labels_get(&labels, "service_name")))
		r = err_set(err, -EINVAL, "a series needs the labels __name__ and service_name; it has no %s",
			    about.name.n ? "service_name" : "__name__");
	while (r >= 0 && protobuf_next(&all, &f))
		if (f.number == PUSH_SERIES_SAMPLES && f.type == 2)
			r = read_sample(p, f.bytes, &about, err);
	return r;
}

int push_request(struct pushed *p, const void *bytes, size_t n, struct err *err)
{
	struct protobuf m = { bytes, (const uint8_t *)bytes + n };
	struct protobuf_field f;
	int r = 0;

	while (r >= 0 && protobuf_next(&m, &f))
		if (f.number == PUSH_SERIES && f.type == 2)
			r = read_series(p, f.bytes, err);
	if (r >= 0 && m.p != m.end)
		r = err_set(err, -EINVAL, "the request is damaged or truncated");
	return r;
}
