/* window_series.c: messages by series, and profiles made of them. */
#include "window_series.h"

#include "batch.h"
#include "mem.h"
#include "wire_profile.h"

#include <assert.h>
#include <string.h>

#define WAITING_BYTES	((size_t)8 << 20)	/* messages that are not merged yet */

void window_series_init(struct window_series *s, const char *host)
{
	*s = (struct window_series){ .host = host };
	intern_init(&s->keys);
	wire_queue_init(&s->waiting);
}

void window_series_clear(struct window_series *s)
{
	for (size_t i = 0; i < s->count; i++) {
		labels_done(&s->list[i].labels);
		profile_free(s->list[i].profile);
	}
	s->count = 0;
	intern_done(&s->keys);
	intern_init(&s->keys);
	wire_queue_clear(&s->waiting);
}

void window_series_done(struct window_series *s)
{
	window_series_clear(s);
	intern_done(&s->keys);
	wire_queue_done(&s->waiting);
	free(s->list);
	s->list = NULL;
	s->capacity = 0;
}

/* Adds the name of the host, unless there is a label `host`. */
static void add_host(const struct window_series *s, struct labels *labels)
{
	if (*s->host && !labels_get(labels, "host") && labels->count < STROBE_WIRE_LABELS)
		labels_set(labels, "host", 4, s->host, strlen(s->host));
}

static void put_key(struct buf *key, const struct strobe_wire_message *m, const struct labels *labels)
{
	const uint8_t *at = m->at_columns;

	buf_put_varint(key, m->info.end_ns / BATCH_BUCKET_NS);
	buf_put_varint(key, (uint64_t)m->info.clock);
	buf_put_varint(key, m->info.period_ns);
	for (uint32_t i = 0; i < m->columns; i++) {
		size_t n;
		const char *name = strobe_wire_find_string(m, strobe_wire_next(&at), &n);

		strobe_wire_next(&at);
		buf_put_varint(key, n);
		buf_put(key, name, n);
	}
	labels_put(labels, key);
}

/* Returns the number of the message's series, adding it if it is new. */
static uint32_t series_of(struct window_series *s, const struct strobe_wire_message *m)
{
	_cleanup_(buf_done) struct buf key = { 0 };
	struct labels labels;
	uint32_t i;

	buf_init(&key);
	labels_init(&labels);
	wire_profile_labels(m, &labels);
	add_host(s, &labels);
	put_key(&key, m, &labels);
	i = intern_add(&s->keys, key.data, key.size);
	assert(i <= s->count);		/* a key that is new has the next number */
	if (i < s->count) {
		labels_done(&labels);
		return i;
	}
	GROW(&s->list, &s->capacity, s->count + 1);
	s->list[s->count++] = (struct series){
		.labels = labels, .bucket_ns = (int64_t)(m->info.end_ns - m->info.end_ns % BATCH_BUCKET_NS),
		.period_ns = (int64_t)m->info.period_ns, .clock = m->info.clock, .profile = profile_new(),
	};
	profile_keep_lines(s->list[i].profile, true);
	assert(s->keys.count == s->count);
	return i;
}

void window_series_add(struct window_series *s, const struct strobe_wire_message *m)
{
	uint32_t i = series_of(s, m);

	s->list[i].samples += m->samples;
	wire_queue_add(&s->waiting, i, m);
	if (s->waiting.bytes.bytes > WAITING_BYTES)
		window_series_merge(s);
}

void window_series_merge(struct window_series *s)
{
	const struct wire_queue_entry *w;

	while ((w = wire_queue_take(&s->waiting))) {
		int r;

		assert(w->series < s->count);
		r = wire_profile_add(s->list[w->series].profile, &w->message);
		assert(r >= 0);		/* the columns are part of the key */
		(void)r;
	}
}

bool window_series_is_empty(const struct window_series *s)
{
	return !s->count;
}
